/** Time as the limits need it; handed in so that tests can move it. */
export interface Clock {
  /** Unix milliseconds; may jump when the machine's clock is set. */
  nowMs: () => number;
  /** Milliseconds of a clock that never goes back. */
  steadyMs: () => number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
};

const DAY_MS = 86_400_000;

let lastDayNumber = -1;
let lastDay = '';

/** The UTC day, YYYY-MM-DD. Asked for on every request, so the text of the last answer is kept. */
export function utcDay(nowMs: number): string {
  const dayNumber = Math.floor(nowMs / DAY_MS);
  if (dayNumber !== lastDayNumber) {
    lastDayNumber = dayNumber;
    lastDay = new Date(nowMs).toISOString().slice(0, 10);
  }
  return lastDay;
}

/** Unix milliseconds of the next UTC midnight. */
export function nextUtcMidnightMs(nowMs: number): number {
  return (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
}
