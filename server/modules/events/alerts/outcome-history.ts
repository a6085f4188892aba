/** How the latest attempts of something ended, oldest first: s for a success, f for a failure. */
export type Outcomes = string;

/** So many of the latest outcomes are kept. */
export const KEPT_OUTCOMES = 20;

/** When something counts as failing: at least `failures` of its last `window` outcomes, once there are so many. */
export interface FailureRule {
  /** At most `KEPT_OUTCOMES`. */
  window: number;
  failures: number;
}

export function addOutcome(outcomes: Outcomes, hasFailed: boolean): Outcomes {
  return (outcomes + (hasFailed ? 'f' : 's')).slice(-KEPT_OUTCOMES);
}

/** Failures among the last `window` outcomes. */
export function countFailures(outcomes: Outcomes, window: number): number {
  return outcomes.slice(-window).replaceAll('s', '').length;
}

export function isFailing(outcomes: Outcomes, { window, failures }: FailureRule): boolean {
  return outcomes.length >= window && countFailures(outcomes, window) >= failures;
}
