import { beforeEach, expect, test } from 'vitest';
import { createInvalidatedCache, type ChangeFeed, type InvalidatedCache } from './index.ts';

/** A feed whose news the test sends itself. */
class ManualFeed implements Pick<ChangeFeed, 'on' | 'onLost' | 'isLive'> {
  isUp = true;
  change: (key: string) => void = () => undefined;
  lose: () => void = () => undefined;
  on = (_topic: string, onChange: (key: string) => void): void => {
    this.change = onChange;
  };
  onLost = (onLost: () => void): void => {
    this.lose = onLost;
  };
  isLive = (): boolean => this.isUp;
}

let feed: ManualFeed;
let cache: InvalidatedCache<string>;
let pending: { key: string; answer: (value: string | undefined) => void; fail: (error: Error) => void }[];

beforeEach(() => {
  feed = new ManualFeed();
  pending = [];
  cache = createInvalidatedCache({
    feed,
    topic: 'things',
    maxEntries: 2,
    load: (key) => new Promise((answer, fail) => pending.push({ key, answer, fail })),
  });
});

async function warm(key: string, value: string): Promise<void> {
  const got = cache.get(key);
  pending.at(-1)?.answer(value);
  expect(await got).toBe(value);
}

test('a warm value is given at once', async () => {
  await warm('a', 'A');
  expect(cache.peek('a')).toBe('A');
  expect(cache.get('a')).toBe('A');
  expect(pending).toHaveLength(1);
});

test('those who ask together share one load', async () => {
  const both = Promise.all([cache.get('a'), cache.get('a')]);
  expect(pending).toHaveLength(1);
  pending[0]?.answer('A');
  expect(await both).toEqual(['A', 'A']);
});

test('a change makes the next get load again', async () => {
  await warm('a', 'A');
  feed.change('a');
  expect(cache.peek('a')).toBeUndefined();
  await warm('a', 'A2');
});

test('a load that a change overtook is not kept, nor shared with those who ask after the change', async () => {
  const before = cache.get('a');
  feed.change('a');
  const after = cache.get('a');
  expect(pending).toHaveLength(2);
  pending[1]?.answer('new');
  expect(await after).toBe('new');
  pending[0]?.answer('old');
  expect(await before).toBe('old');
  expect(cache.peek('a')).toBe('new');
});

test('nothing is trusted or kept while the feed is down', async () => {
  await warm('a', 'A');
  feed.isUp = false;
  expect(cache.peek('a')).toBeUndefined();
  await warm('b', 'B');
  feed.isUp = true;
  expect(cache.peek('b')).toBeUndefined();
});

test('a loss drops everything, loads on their way too', async () => {
  await warm('a', 'A');
  const got = cache.get('b');
  feed.lose();
  pending.at(-1)?.answer('B');
  await got;
  expect([cache.peek('a'), cache.peek('b')]).toEqual([undefined, undefined]);
});

test('what was not found and what failed is asked for again', async () => {
  const absent = cache.get('a');
  pending[0]?.answer(undefined);
  expect(await absent).toBeUndefined();
  const failing = cache.get('a');
  pending[1]?.fail(new Error('away'));
  await expect(failing).rejects.toThrow('away');
  await warm('a', 'A');
});

test('the least recently used go first', async () => {
  await warm('a', 'A');
  await warm('b', 'B');
  cache.peek('a');
  await warm('c', 'C');
  expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual(['A', undefined, 'C']);
});
