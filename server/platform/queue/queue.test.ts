import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import { openDatabase, type Database } from '../db/index.ts';
import { createQueue, enqueue, enqueueAll, migrateQueue, type NewJob, type Queue, type QueueOptions } from './index.ts';

const log = pino({ level: 'silent' });
let home: TestDatabase;
let db: Database;
let queues: Queue[];

beforeEach(async () => {
  home = await createTestDatabase();
  db = open();
  queues = [];
  await db.query({ text: 'create table done (n int primary key, times int not null default 1)' });
});

afterEach(async () => {
  await Promise.all(queues.map((queue) => queue.stop()));
  await db.close();
  await home.drop();
});

function open(): Database {
  return openDatabase({ url: home.url, maxConnections: 10, applicationName: 'test', onError: () => undefined });
}

async function startQueue(tasks: QueueOptions['tasks'], options: Partial<QueueOptions> = {}): Promise<Queue> {
  const queue = createQueue({ database: db, tasks, log, ...options });
  await queue.start();
  queues.push(queue);
  return queue;
}

function add(...jobs: NewJob[]): Promise<void> {
  return db.transaction((tx) => enqueueAll(tx, jobs));
}

function numberOf(payload: unknown): number {
  if (typeof payload === 'object' && payload !== null && 'n' in payload && typeof payload.n === 'number')
    return payload.n;
  throw new Error('not a number');
}

/** Counts in the database, as a job does that bears repetition: by its own key. */
async function record(payload: unknown): Promise<void> {
  await db.query({
    text: 'insert into done (n) values ($1) on conflict (n) do update set times = done.times + 1',
    values: [numberOf(payload)],
  });
}

async function done(): Promise<number[]> {
  return (await db.query<{ n: number }>({ text: 'select n from done order by n' })).rows.map(({ n }) => n);
}

const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test('a job runs within moments of its commit, with its payload', async () => {
  const seen: unknown[] = [];
  await startQueue({
    note: (payload, { attempt }) => {
      seen.push({ payload, attempt });
      return Promise.resolve();
    },
  });
  await db.transaction((tx) => enqueue(tx, { task: 'note', payload: { text: 'a\0b', list: [1, null] } }));
  await expect
    .poll(() => seen, { timeout: 1000 })
    .toEqual([{ payload: { text: 'a\uFFFDb', list: [1, null] }, attempt: 1 }]);
});

test('a job of a transaction that is undone never existed', async () => {
  await startQueue({ record });
  const attempt = db.transaction(async (tx) => {
    await enqueue(tx, { task: 'record', payload: { n: 1 } });
    throw new Error('no');
  });
  await expect(attempt).rejects.toThrow('no');
  await add({ task: 'record', payload: { n: 2 } });
  await expect.poll(done).toEqual([2]);
});

test('a job that fails is tried again, as often as it was given', async () => {
  const attempts: number[] = [];
  const queue = await startQueue({
    fail: (_payload, { attempt }) => {
      attempts.push(attempt);
      return Promise.reject(new Error('no'));
    },
  });
  await add({ task: 'fail', payload: {}, maxAttempts: 2 });
  await expect.poll(() => attempts, { timeout: 10_000 }).toEqual([1, 2]);
  await expect.poll(() => queue.depth()).toBe(0);
});

test('jobs with one key replace each other while they wait', async () => {
  await add({ task: 'record', payload: { n: 1 }, key: 'k' }, { task: 'record', payload: { n: 2 }, key: 'k' });
  await add({ task: 'record', payload: { n: 3 }, key: 'k' });
  await add({ task: 'record', payload: { n: 4 } });
  await startQueue({ record });
  await expect.poll(done).toEqual([3, 4]);
});

test('jobs of one queue run one at a time', async () => {
  let running = 0;
  let most = 0;
  await startQueue({
    step: async (payload) => {
      running += 1;
      most = Math.max(most, running);
      await record(payload);
      running -= 1;
    },
  });
  await add(...range(10).map((n) => ({ task: 'step', payload: { n }, queueName: 'single' })));
  await expect.poll(done, { timeout: 10_000 }).toEqual(range(10));
  expect(most).toBe(1);
});

test('depth counts what is due and not taken', async () => {
  const queue = createQueue({ database: db, tasks: {}, log });
  await add({ task: 'a', payload: {} }, { task: 'a', payload: {}, runAt: new Date(Date.now() + 3_600_000) });
  expect(await queue.depth()).toBe(1);
});

test('two processes that start at once on a database without the schema both work', async () => {
  await db.query({ text: 'drop schema graphile_worker cascade' });
  const others = [open(), open(), open()];
  await Promise.all(others.map((database) => migrateQueue({ database })));
  await Promise.all(others.map((database) => database.close()));
  await Promise.all([startQueue({ record }), startQueue({ record })]);
  await add({ task: 'record', payload: { n: 1 } });
  await expect.poll(done).toEqual([1]);
});

test('work goes on after every connection was killed, again and again, and nothing is lost', async () => {
  await startQueue({ record });
  for (let round = 0; round < 4; round++) {
    await add(...range(50).map((n) => ({ task: 'record', payload: { n: round * 50 + n } })));
    await home.breakConnections();
  }
  await expect.poll(done, { timeout: 25_000 }).toEqual(range(200));
  const began = performance.now();
  await add({ task: 'record', payload: { n: 1000 } });
  await expect.poll(done, { timeout: 5000 }).toContain(1000);
  expect(performance.now() - began).toBeLessThan(5000);
});

test('the job of a worker that died is done by another within seconds, even at its last attempt', async () => {
  await add({ task: 'record', payload: { n: 1 }, maxAttempts: 1 });
  await db.query({
    text: `update graphile_worker._private_jobs set locked_by = 'pool-of-the-dead', locked_at = now(), attempts = 1`,
  });
  await startQueue({ record });
  await expect.poll(done, { timeout: 8000 }).toEqual([1]);
});

test('the job of a worker that lives is left to it', async () => {
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const task = async (): Promise<void> => {
    runs += 1;
    await gate.promise;
  };
  await startQueue({ task });
  await add({ task: 'task', payload: {} });
  await expect.poll(() => runs).toBe(1);
  await startQueue({ task, record });
  // The second process has looked at least three times when a job that only it can do has been given back to it.
  await add({ task: 'record', payload: { n: 1 }, maxAttempts: 1, runAt: new Date(Date.now() + 6000) });
  await expect.poll(done, { timeout: 12_000 }).toEqual([1]);
  expect(runs).toBe(1);
  gate.resolve();
});

test('stop waits for the job at hand and tells it', async () => {
  let isInside = false;
  const queue = await startQueue({
    slow: async (payload) => {
      isInside = true;
      await new Promise(setImmediate);
      await record(payload);
    },
  });
  await add({ task: 'slow', payload: { n: 1 } });
  await expect.poll(() => isInside).toBe(true);
  await queue.stop();
  queues = [];
  expect(await done()).toEqual([1]);
});

test('a cron item enqueues its task', async () => {
  await db.query({
    text: `insert into graphile_worker._private_known_crontabs values ('tick', now() - interval '1 hour', now() - interval '1 hour')`,
  });
  await startQueue(
    { tick: () => record({ n: 1 }) },
    { cron: [{ task: 'tick', match: '* * * * *', identifier: 'tick', options: { backfillPeriod: 120_000 } }] },
  );
  await expect.poll(done, { timeout: 5000 }).toEqual([1]);
});
