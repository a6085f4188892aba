import { expect, test } from 'vitest';
import { MessageAllowance } from './message-allowance.ts';

test('a burst up to its size, then what comes back with time, and never more than its size', () => {
  const allowance = new MessageAllowance({ size: 3, perSecond: 2 }, 0);
  const take = (atMs: number, times: number) => Array.from({ length: times }, () => allowance.take(atMs));
  expect(take(0, 4)).toEqual([true, true, true, false]);
  expect(take(400, 1)).toEqual([false]);
  expect(take(500, 2)).toEqual([true, false]);
  expect(take(60_000, 4)).toEqual([true, true, true, false]);
});
