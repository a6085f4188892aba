import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

test('doubles up to half a minute, and spreads over the upper half', () => {
  expect([0, 1, 2, 3].map((failures) => backoffMs(failures, () => 1))).toEqual([500, 1000, 2000, 4000]);
  expect(backoffMs(3, () => 0)).toBe(2000);
  expect(backoffMs(100, () => 1)).toBe(30_000);
  expect(backoffMs(1_000_000, () => 0)).toBe(15_000);
});
