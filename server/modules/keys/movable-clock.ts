import type { Clock } from '../../platform/clock/index.ts';

/** A clock for tests, which stands still until it is moved. */
export function movableClock(startMs: number): Clock & { advance: (ms: number) => void } {
  let now = startMs;
  return { nowMs: () => now, steadyMs: () => now - startMs, advance: (ms) => (now += ms) };
}
