import { expect, test } from 'vitest';
import { shareLoads } from './share-loads.ts';

test('those who ask at the same time share one load, and who asks afterwards has one of their own', async () => {
  const asked: string[] = [];
  const load = shareLoads((key) => Promise.resolve(`${key}${asked.push(key)}`));
  expect(await Promise.all([load('a'), load('b'), load('a')])).toEqual(['a1', 'b2', 'a1']);
  expect(await load('a')).toBe('a3');
});

test('a load that fails, fails for all who share it, and is not remembered', async () => {
  let isAway = true;
  const load = shareLoads((key) => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(key)));
  expect(await Promise.allSettled([load('a'), load('a')])).toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
  isAway = false;
  expect(await load('a')).toBe('a');
});
