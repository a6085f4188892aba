import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { nextTurn } from './next-turn.ts';

test('of all work that waits, one piece goes on in each turn of the event loop, in order', async () => {
  const done: number[] = [];
  for (const piece of [1, 2, 3]) void nextTurn().then(() => done.push(piece));
  await turn();
  expect(done).toEqual([1]);
  // What comes meanwhile waits behind the others.
  void nextTurn().then(() => done.push(4));
  await turn();
  expect(done).toEqual([1, 2]);
  await turn();
  await turn();
  expect(done).toEqual([1, 2, 3, 4]);
  const after = nextTurn().then(() => done.push(5));
  expect(done).toHaveLength(4);
  await after;
  expect(done).toHaveLength(5);
});
