import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sharedLookup } from './system-lookup.ts';

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];

test('a name that many want at once is asked for once', async () => {
  const asked: string[] = [];
  const lookup = sharedLookup(async (hostname) => {
    asked.push(hostname);
    await sleep(5);
    return LOOPBACK;
  });
  const answers = await Promise.all(['a', 'b', 'a', 'a'].map(lookup));
  expect(answers).toEqual([LOOPBACK, LOOPBACK, LOOPBACK, LOOPBACK]);
  await lookup('a');
  expect(asked).toEqual(['a', 'b']);
});

test('a failure is told to those who waited, and asked for again by the next', async () => {
  let count = 0;
  const lookup = sharedLookup(() => {
    count++;
    return count === 1 ? Promise.reject(new Error('no such name')) : Promise.resolve(LOOPBACK);
  });
  const first = await Promise.allSettled([lookup('a'), lookup('a')]);
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await lookup('a')).toEqual(LOOPBACK);
  expect(count).toBe(2);
});
