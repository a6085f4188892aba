import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import {
  createChangeFeed,
  createInvalidatedCache,
  notifyChange,
  openDatabase,
  type ChangeFeed,
  type Database,
} from './index.ts';

const log = pino({ level: 'silent' });
let home: TestDatabase;
let db: Database;
let feed: ChangeFeed;

beforeAll(async () => {
  home = await createTestDatabase();
  db = openDatabase({ url: home.url, maxConnections: 4, applicationName: 'test', onError: () => undefined });
  await db.query({ text: 'create table things (key text primary key, value int not null)' });
  feed = await createChangeFeed({ url: home.url, log });
});

afterAll(async () => {
  await feed.close();
  await db.close();
  await home.drop();
});

test('a change is heard after its commit, with its key, by its topic alone', async () => {
  const heard: string[] = [];
  feed.on('fruit', (key) => heard.push(`fruit ${key}`));
  feed.on('stone', (key) => heard.push(`stone ${key}`));
  await db.transaction(async (tx) => {
    await notifyChange(tx, 'fruit', 'a:b "c"');
    expect(heard).toEqual([]);
  });
  await expect.poll(() => heard).toEqual(['fruit a:b "c"']);
});

test('a change that is undone is not heard', async () => {
  const heard: string[] = [];
  feed.on('undone', (key) => heard.push(key));
  const attempt = db.transaction(async (tx) => {
    await notifyChange(tx, 'undone', 'first');
    throw new Error('no');
  });
  await expect(attempt).rejects.toThrow('no');
  await db.transaction((tx) => notifyChange(tx, 'undone', 'second'));
  await expect.poll(() => heard).toEqual(['second']);
});

test('a broken connection is noticed, announced and repaired', async () => {
  let losses = 0;
  feed.onLost(() => (losses += 1));
  expect(feed.isLive()).toBe(true);
  await home.breakConnections();
  await expect.poll(() => losses).toBe(2);
  expect(feed.isLive()).toBe(true);
  const heard: string[] = [];
  feed.on('again', (key) => heard.push(key));
  await db.transaction((tx) => notifyChange(tx, 'again', 'k'));
  await expect.poll(() => heard).toEqual(['k']);
});

test('an answer after the commit of another process is at most a second old, whatever breaks meanwhile', async () => {
  await db.query({ text: `insert into things values ('k', 0)` });
  const cache = createInvalidatedCache<number>({
    feed,
    topic: 'things',
    maxEntries: 10,
    load: async (key) => {
      const { rows } = await db.query<{ value: number }>({
        text: 'select value from things where key = $1',
        values: [key],
      });
      return rows[0]?.value;
    },
  });
  for (let value = 1; value <= 20; value++) {
    if (value % 5 === 0) await home.breakConnections();
    await expect.poll(() => cache.get('k')).toBe(value - 1);
    await db.transaction(async (tx) => {
      await tx.query({ text: 'update things set value = $1', values: [value] });
      await notifyChange(tx, 'things', 'k');
    });
    await expect.poll(() => cache.get('k'), { timeout: 1000, interval: 5 }).toBe(value);
  }
});
