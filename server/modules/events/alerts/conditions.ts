import type { EventType } from '../../../../contract/events/index.ts';
import type { OutboxEvent } from '../../../platform/outbox/index.ts';
import { quoteText, sourceText, type Alert } from './alert.ts';
import type { FailureRule } from './outcome-history.ts';
import type { History } from './outcome-history.store.ts';

/** A condition that depends on how the latest attempts of something ended. */
interface Condition {
  kind: History['kind'];
  /** Where the data of an event names what was attempted. */
  sourceField: string;
  rule: FailureRule;
  /** `failures` are those of the window, the attempt of the event included. */
  alertOf: (attempt: Attempt, failures: number) => Pick<Alert, 'alertType' | 'message' | 'severity'>;
}

/** An event that tells how a call or a run ended. */
export interface Attempt {
  developerId: string;
  source: string;
  condition: Condition;
  hasFailed: boolean;
  data: Record<string, unknown>;
}

/** The error of an event that carries one, as the end of a message. */
function reasonOf({ error }: Record<string, unknown>): string {
  return typeof error === 'string' && error !== '' ? ` The last error: ${quoteText(error)}` : '';
}

const TOOL: Condition = {
  kind: 'tool',
  sourceField: 'toolName',
  // More than half.
  rule: { window: 20, failures: 11 },
  alertOf: ({ source, data }, failures) => ({
    alertType: 'tool_failure_rate',
    message: `${failures} of the last 20 calls of the tool "${quoteText(source)}" failed.${reasonOf(data)}`,
    severity: 'warning',
  }),
};

const WORKFLOW: Condition = {
  kind: 'workflow',
  sourceField: 'workflowId',
  rule: { window: 3, failures: 3 },
  alertOf: ({ source, data }) => {
    const { workflowName: name } = data;
    const called = quoteText(typeof name === 'string' && name !== '' ? name : source);
    return {
      alertType: 'workflow_failing',
      message: `The workflow "${called}" failed 3 times in a row.${reasonOf(data)}`,
      severity: 'error',
    };
  },
};

const ATTEMPTS = new Map<EventType, Pick<Attempt, 'condition' | 'hasFailed'>>([
  ['tool.executed', { condition: TOOL, hasFailed: false }],
  ['tool.failed', { condition: TOOL, hasFailed: true }],
  ['workflow.completed', { condition: WORKFLOW, hasFailed: false }],
  ['workflow.failed', { condition: WORKFLOW, hasFailed: true }],
]);

/** Undefined for events that no condition depends on, and for those that do not say what was attempted. */
export function attemptOf({ developerId, type, data }: OutboxEvent): Attempt | undefined {
  const about = ATTEMPTS.get(type);
  const source = about && data[about.condition.sourceField];
  return about && typeof source === 'string' ? { ...about, developerId, source: sourceText(source), data } : undefined;
}
