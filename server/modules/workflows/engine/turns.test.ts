import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

const PER_TURN = 4;

function nextLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test('who asks while little happens has their turn at once', async () => {
  const turns = new Turns();
  let isLater = false;
  setImmediate(() => (isLater = true));
  for (let i = 0; i < PER_TURN; i++) await turns.next();
  expect(isLater).toBe(false);
});

test('many have their turns in the order in which they asked, a few in each turn of the event loop', async () => {
  const turns = new Turns();
  const had: number[] = [];
  const all = Promise.all(Array.from({ length: 100 }, (_, i) => turns.next().then(() => had.push(i))));
  const counts: number[] = [];
  while (had.length < 100) {
    const before = had.length;
    await nextLoop();
    counts.push(had.length - before);
  }
  await all;
  expect(had).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect(Math.max(...counts)).toBeLessThanOrEqual(2 * PER_TURN);
});

test('after many had their turns one who asks has theirs at once again', async () => {
  const turns = new Turns();
  await Promise.all(Array.from({ length: 10 }, () => turns.next()));
  await nextLoop();
  await nextLoop();
  let isLater = false;
  setImmediate(() => (isLater = true));
  await turns.next();
  expect(isLater).toBe(false);
});
