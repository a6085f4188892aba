import type { AlertSeverity, AlertType } from '../../../../contract/events/index.ts';

/** What a developer is told with alert.triggered. */
export interface Alert {
  developerId: string;
  alertType: AlertType;
  /** The name or id of what the alert is about. */
  source: string;
  message: string;
  severity: AlertSeverity;
}

/** Long enough for every name that is accepted, short enough for an index. */
const MAX_SOURCE_LENGTH = 512;
/** Of an error or a name that a message repeats. */
const MAX_QUOTE_LENGTH = 300;

/** A name or id as the source of alerts. */
export function sourceText(text: string): string {
  return text.slice(0, MAX_SOURCE_LENGTH).toWellFormed();
}

/** Text of somebody else's, as a message repeats it. */
export function quoteText(text: string): string {
  return text.length <= MAX_QUOTE_LENGTH ? text : `${text.slice(0, MAX_QUOTE_LENGTH).toWellFormed()}…`;
}
