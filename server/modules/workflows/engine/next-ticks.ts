import { Cron } from 'croner';

/** A schedule as a trigger gives it. */
export interface Schedule {
  /** Five or six fields. */
  expression: string;
  /** IANA name. */
  timezone: string;
}

const FIELDS = /^\s*\S+(?:\s+\S+){4,5}\s*$/;

/** What is wrong with a schedule; undefined when it can be used. */
export function scheduleProblem({ expression, timezone }: Schedule): string | undefined {
  if (!isTimeZone(timezone)) return `"${timezone}" is not a time zone; write one such as Asia/Shanghai.`;
  if (!FIELDS.test(expression)) return `"${expression}" is not a cron expression: it needs five or six fields.`;
  try {
    return nextTick({ expression, timezone }, new Date()) ? undefined : `"${expression}" never comes due.`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    return `"${expression}" is not a cron expression: ${reason}`;
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The first tick after a moment; null when there is none. */
export function nextTick({ expression, timezone }: Schedule, after: Date): Date | null {
  return new Cron(expression, { timezone, paused: true }).nextRun(after);
}
