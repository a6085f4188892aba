const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Milliseconds after each failed attempt until the next one. */
const DELAYS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
/** Spread in both directions, so that what failed together does not come back together. */
const JITTER = 0.2;

/**
 * Milliseconds until the next attempt when `attempts` have failed; undefined when there is none. `random` is from 0 up
 * to 1.
 */
export function retryDelayMs(attempts: number, random: number): number | undefined {
  const delay = DELAYS_MS[attempts - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}
