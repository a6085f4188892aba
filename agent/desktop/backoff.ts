const FIRST_MS = 500;
const MAX_MS = 30_000;

/**
 * Milliseconds to wait before the attempt after so many failures: twice as long each time, and anywhere in the upper
 * half of it, so that agents which lost the same service do not come back at one moment.
 */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const full = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures, 20));
  return full / 2 + (full / 2) * random();
}
