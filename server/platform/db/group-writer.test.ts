import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import { AppError } from '../errors/index.ts';
import { createGroupWriter, openDatabase, type Database } from './index.ts';

interface Item {
  id: number;
  body: string;
}

const log = pino({ level: 'silent' });
let home: TestDatabase;
let db: Database;
let batches: number[];

beforeAll(async () => {
  home = await createTestDatabase();
  db = openDatabase({ url: home.url, maxConnections: 4, applicationName: 'test', onError: () => undefined });
  await db.query({ text: 'create table items (id int primary key, body text not null)' });
});

beforeEach(async () => {
  batches = [];
  await db.query({ text: 'truncate items' });
});

afterAll(async () => {
  await db.close();
  await home.drop();
});

async function write(items: Item[]): Promise<void> {
  batches.push(items.length);
  await db.transaction((tx) =>
    tx.query({
      text: 'insert into items select * from unnest($1::int[], $2::text[]) on conflict do nothing',
      values: [items.map(({ id }) => id), items.map(({ body }) => body)],
    }),
  );
}

function createWriter(change: Partial<Parameters<typeof createGroupWriter<Item>>[0]> = {}) {
  return createGroupWriter<Item>({ write, maxItems: 1000, maxDelayMs: 0, maxQueued: 10_000, log, ...change });
}

async function storedIds(): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({ text: 'select id from items order by id' });
  return rows.map(({ id }) => id);
}

const range = (count: number): Item[] => Array.from({ length: count }, (_, id) => ({ id, body: 'x' }));

test('what arrives during a write shares the next one', async () => {
  const writer = createWriter();
  const first = writer.submit({ id: 0, body: 'first' });
  await expect.poll(() => batches).toEqual([1]);
  const others = range(51)
    .slice(1)
    .map((item) => writer.submit(item));
  await Promise.all([first, ...others]);
  expect(batches).toEqual([1, 50]);
  expect(await storedIds()).toHaveLength(51);
});

test('an item is on disk when submit resolves', async () => {
  await createWriter().submit({ id: 7, body: 'kept' });
  expect(await storedIds()).toEqual([7]);
});

test('a delay collects', async () => {
  const writer = createWriter({ maxDelayMs: 50 });
  const first = writer.submit({ id: 1, body: 'a' });
  await new Promise(setImmediate);
  await Promise.all([first, writer.submit({ id: 2, body: 'b' })]);
  expect(batches).toEqual([2]);
});

test('a poisonous item fails alone', async () => {
  const writer = createWriter();
  const items = range(20).map((item) => (item.id === 13 ? { id: 13, body: 'a\0b' } : item));
  const outcomes = await Promise.allSettled(items.map((item) => writer.submit(item)));
  expect(outcomes.flatMap(({ status }, id) => (status === 'rejected' ? [id] : []))).toEqual([13]);
  expect(outcomes[13]).toMatchObject({ reason: { code: 'INVALID_REQUEST' } });
  expect(await storedIds()).toHaveLength(19);
});

test('a batch waits while the database is away, and is written when it is back', async () => {
  let isAway = true;
  const writer = createWriter({
    write: (items) => {
      batches.push(items.length);
      const away = new AppError('UNAVAILABLE', 'away', {
        cause: Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }),
      });
      return isAway ? Promise.reject(away) : write(items);
    },
  });
  const submitted = writer.submit({ id: 1, body: 'patient' });
  await expect.poll(() => batches.length).toBeGreaterThan(2);
  isAway = false;
  await submitted;
  expect(await storedIds()).toEqual([1]);
});

test('connections that break under load lose nothing and double nothing', async () => {
  const writer = createWriter({ maxItems: 10 });
  const submitted = Promise.all(range(300).map((item) => writer.submit(item)));
  for (let round = 0; round < 5; round++) {
    const seen = batches.length;
    await expect.poll(() => batches.length, { interval: 1 }).toBeGreaterThan(seen);
    await home.breakConnections();
  }
  await submitted;
  expect(await storedIds()).toHaveLength(300);
});

test('a full queue refuses the newcomer and keeps what it has', async () => {
  const writer = createWriter({ maxQueued: 3, maxDelayMs: 20 });
  const kept = range(3).map((item) => writer.submit(item));
  await expect(writer.submit({ id: 9, body: 'late' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  writer.enqueue({ id: 10, body: 'later' });
  await Promise.all(kept);
  expect(await storedIds()).toEqual([0, 1, 2]);
});

test('enqueue never throws or rejects, poison or not', async () => {
  const writer = createWriter();
  writer.enqueue({ id: 1, body: 'a\0b' });
  writer.enqueue({ id: 2, body: 'b' });
  await writer.flush();
  expect(await storedIds()).toEqual([2]);
});

test('close writes everything at once and then refuses', async () => {
  const writer = createWriter({ maxDelayMs: 60_000, maxItems: 40 });
  for (const item of range(100)) writer.enqueue(item);
  await writer.close();
  expect(await storedIds()).toHaveLength(100);
  await expect(writer.submit({ id: 200, body: 'late' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  writer.enqueue({ id: 201, body: 'late' });
  await writer.flush();
  expect(await storedIds()).toHaveLength(100);
});

test('a flush waits for what was handed over before it, however much follows', async () => {
  const written: number[] = [];
  const writer = createWriter({
    write: (items) => {
      written.push(...items.map(({ id }) => id));
      // During every write there is something new.
      writer.enqueue({ id: written.length, body: 'x' });
      return new Promise((resolve) => {
        setImmediate(resolve);
      });
    },
    maxDelayMs: 60_000,
  });
  writer.enqueue({ id: 0, body: 'x' });
  await writer.flush();
  expect(written).toEqual([0]);
  await writer.flush();
  expect(written).toEqual([0, 1]);
  await Promise.all([writer.flush(), writer.flush()]);
  expect(written).toEqual([0, 1, 2]);
  await writer.close();
});
