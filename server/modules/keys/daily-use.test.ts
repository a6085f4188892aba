import { expect, test } from 'vitest';
import { sharesReached } from './daily-use.ts';

/** The shares that a key reaches with its last requests. */
function reached(used: number, added: number, cap: number): number[] {
  const total = { developerId: 'dev_1', keyId: 'key_1', day: '2026-01-31', requests: used };
  return sharesReached(total, { added, cap }).map(({ percent }) => percent);
}

test.each([
  ['before 80%', 799, 799, 1000, []],
  ['at 80%', 800, 1, 1000, [80]],
  ['over 80% with several', 850, 100, 1000, [80]],
  ['after 80%', 801, 1, 1000, []],
  ['at 100%', 1000, 1, 1000, [100]],
  ['after 100%, by another process', 1001, 1, 1000, []],
  ['from nothing to everything', 1000, 1000, 1000, [80, 100]],
  ['a share that is no whole number', 2, 1, 3, []],
  ['the request that passes it', 3, 1, 3, [80, 100]],
  ['a cap of one', 1, 1, 1, [80, 100]],
  ['the greatest cap', 8e11, 1, 1e12, [80]],
])('%s', (_, used, added, cap, expected) => {
  expect(reached(used, added, cap)).toEqual(expected);
});
