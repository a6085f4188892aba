import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import { openDatabase, type Database, type Transaction } from '../db/index.ts';
import {
  createEventRecorder,
  createOutboxRelay,
  publishEvents,
  type EventListener,
  type OutboxEvent,
  type OutboxRelay,
} from './index.ts';

const log = pino({ level: 'silent' });
let home: TestDatabase;
let db: Database;
let relays: OutboxRelay[];

beforeEach(async () => {
  home = await createTestDatabase();
  db = openDatabase({ url: home.url, maxConnections: 8, applicationName: 'test', onError: () => undefined });
  await db.query({ text: 'create table received (seq serial, id text primary key, data jsonb)' });
  relays = [];
});

afterEach(async () => {
  await Promise.all(relays.map((each) => each.stop()));
  await db.close();
  await home.drop();
});

async function relay(...listeners: EventListener[]): Promise<OutboxRelay> {
  const started = await createOutboxRelay({ database: db, url: home.url, listeners, log });
  relays.push(started);
  return started;
}

/** Fails on an event that is handed over a second time. */
const receive: EventListener = async (tx, events) => {
  for (const { id, data } of events) {
    await tx.query({ text: 'insert into received (id, data) values ($1, $2)', values: [id, data] });
  }
};

function publish(tx: Transaction, ...numbers: number[]): Promise<void> {
  return publishEvents(
    tx,
    numbers.map((n) => ({ developerId: 'dev_1', type: 'graph.synced', data: { n } })),
  );
}

async function received(): Promise<number[]> {
  const { rows } = await db.query<{ n: number }>({ text: `select (data->>'n')::int as n from received order by seq` });
  return rows.map(({ n }) => n);
}

async function waiting(): Promise<number> {
  return (await db.query({ text: 'select from outbox_events where dispatched_at is null' })).rowCount;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

test('an event is handed over within moments of its commit', async () => {
  const seen: OutboxEvent[] = [];
  await relay((_tx, events) => {
    seen.push(...events);
    return Promise.resolve();
  });
  await db.transaction((tx) => publish(tx, 1));
  await expect.poll(() => seen, { timeout: 500 }).toHaveLength(1);
  expect(seen[0]).toMatchObject({ developerId: 'dev_1', type: 'graph.synced', data: { n: 1 } });
  expect(seen[0]?.id).toMatch(/^evt_/);
  expect(seen[0]?.createdAt).toBeInstanceOf(Date);
});

test('an event of a transaction that is undone never happened', async () => {
  await relay(receive);
  const attempt = db.transaction(async (tx) => {
    await publish(tx, 1);
    throw new Error('no');
  });
  await expect(attempt).rejects.toThrow('no');
  await db.transaction((tx) => publish(tx, 2));
  await expect.poll(received).toEqual([2]);
});

test('events that waited for a relay come in order', async () => {
  await db.transaction((tx) => publish(tx, 1, 2));
  await db.transaction((tx) => publish(tx, 3));
  await relay(receive);
  await expect.poll(received).toEqual([1, 2, 3]);
});

test('data that jsonb cannot hold does not make an event fail', async () => {
  await relay(receive);
  await db.transaction((tx) =>
    publishEvents(tx, [{ developerId: 'dev_1', type: 'graph.synced', data: { 'k\0': 'a\0b\ud800\\u0000' } }]),
  );
  await expect
    .poll(async () => (await db.query({ text: 'select data from received' })).rows)
    .toEqual([{ data: { 'k\uFFFD': 'a\uFFFDb\uFFFD\\u0000' } }]);
});

test('what a listener wrote for a batch that failed is undone with it', async () => {
  let attempts = 0;
  await relay(receive, () => {
    attempts += 1;
    return attempts < 2 ? Promise.reject(new Error('not yet')) : Promise.resolve();
  });
  await db.transaction((tx) => publish(tx, 1));
  await expect.poll(received, { timeout: 10_000 }).toEqual([1]);
  expect(await waiting()).toBe(0);
});

test('an event that a listener cannot take holds up nobody and is offered again', async () => {
  let isBroken = true;
  await relay(async (tx, events) => {
    if (isBroken && events.some(({ data }) => data['n'] === 3)) throw new Error('cannot take three');
    await receive(tx, events);
  });
  await db.transaction((tx) => publish(tx, 1, 2, 3, 4, 5));
  await expect.poll(received).toEqual([1, 2, 4, 5]);
  isBroken = false;
  await expect.poll(received, { timeout: 10_000 }).toEqual([1, 2, 4, 5, 3]);
});

test('however many relays run, and whichever connections break, every event is handed over exactly once', async () => {
  await Promise.all([relay(receive), relay(receive), relay(receive)]);
  for (let round = 0; round < 5; round++) {
    await db.transaction((tx) => publish(tx, ...range(round * 300, round * 300 + 300)));
    await home.breakConnections();
  }
  await expect.poll(waiting, { timeout: 15_000 }).toBe(0);
  expect((await received()).toSorted((a, b) => a - b)).toEqual(range(0, 1500));
});

test('stop finishes the batch at hand', async () => {
  let isInside = false;
  const gate = Promise.withResolvers<void>();
  const slow = await relay(async (tx, events) => {
    isInside = true;
    await gate.promise;
    await receive(tx, events);
  });
  await db.transaction((tx) => publish(tx, 1));
  await expect.poll(() => isInside).toBe(true);
  const stopped = slow.stop();
  gate.resolve();
  await stopped;
  expect(await received()).toEqual([1]);
});

test('recorded events are on disk when record resolves', async () => {
  const recorder = createEventRecorder({ database: db, log });
  const events = range(0, 50).map((n) => ({ developerId: 'dev_1', type: 'graph.synced' as const, data: { n } }));
  await recorder.record(events);
  expect(await waiting()).toBe(50);
  await recorder.close();
});
