import { expect, test } from 'vitest';
import { retryDelayMs } from './retry-schedule.ts';

test('eight attempts over 27 hours and a half', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((attempts) => retryDelayMs(attempts, 0.5));
  expect(delays).toEqual([5e3, 300e3, 1800e3, 7200e3, 18_000e3, 36_000e3, 36_000e3, undefined]);
});

test('each delay is spread by a fifth in both directions', () => {
  expect(retryDelayMs(1, 0)).toBe(4000);
  expect(retryDelayMs(1, 0.999_999)).toBe(6000);
});
