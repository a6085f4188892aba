import { expect, test } from 'vitest';
import { createRecent } from './recent.ts';

function setUp(maxEntries = 10) {
  const state = { nowMs: 0, made: 0 };
  const clock = { nowMs: () => 0, steadyMs: () => state.nowMs };
  const recent = createRecent<number>({ maxAgeMs: 1000, maxEntries, isKept: (value) => value >= 0, clock });
  const make = () => Promise.resolve(++state.made);
  return { state, recent, make };
}

test('a value is given again until it is too old', async () => {
  const { state, recent, make } = setUp();
  expect(await recent.get('a', make)).toBe(1);
  state.nowMs = 999;
  expect(await recent.get('a', make)).toBe(1);
  expect(await recent.get('b', make)).toBe(2);
  state.nowMs = 1000;
  expect(await recent.get('a', make)).toBe(3);
});

test('those who ask while it is being made share it', async () => {
  const { state, recent, make } = setUp();
  const values = await Promise.all([recent.get('a', make), recent.get('a', make), recent.get('a', make)]);
  expect(values).toEqual([1, 1, 1]);
  expect(state.made).toBe(1);
});

test('what must not be kept, or failed, is made again', async () => {
  const { recent, make } = setUp();
  expect(await recent.get('a', () => Promise.resolve(-1))).toBe(-1);
  await expect(recent.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await recent.get('a', make)).toBe(1);
});

test('the oldest entry makes room', async () => {
  const { recent, make } = setUp(2);
  for (const key of ['a', 'b', 'c']) await recent.get(key, make);
  expect(await recent.get('b', make)).toBe(2);
  expect(await recent.get('a', make)).toBe(4);
});
