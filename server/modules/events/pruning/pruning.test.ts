import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../testing/test-database.ts';
import { openDatabase, type Database } from '../../../platform/db/index.ts';
import { createQueue, migrateQueue } from '../../../platform/queue/index.ts';
import { ensurePartition, insertCalls } from '../call-log.store.ts';
import { pruningTask } from './pruning-task.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-06-30T12:00:00Z');
const log = pino({ level: 'silent' });
const settings = { CALL_LOG_DAYS: 10, DELIVERY_LOG_DAYS: 5 };

let home: TestDatabase;
let db: Database;
/** How many rows each delete took, in order. */
let pieces: number[];

beforeEach(async () => {
  home = await createTestDatabase();
  pieces = [];
  const opened = openDatabase({ url: home.url, maxConnections: 4, applicationName: 'test', onError: () => undefined });
  db = {
    ...opened,
    query: async <Row>(statement: Parameters<Database['query']>[0]) => {
      const outcome = await opened.query<Row>(statement);
      if (/\bdelete from (outbox_events|webhook_)/.test(statement.text)) pieces.push(outcome.rowCount);
      return outcome;
    },
  };
  await migrateQueue({ database: db });
});
afterEach(async () => {
  await db.close();
  await home.drop();
});

function prune(signal = new AbortController().signal): Promise<void> {
  const clock = { nowMs: () => NOW_MS, steadyMs: () => 0 };
  const { tasks } = pruningTask({ database: db, settings, log, clock });
  return tasks['prune']?.({}, { attempt: 1, signal }) ?? Promise.reject(new Error('there is no such task'));
}

const dayAt = (ago: number): string => new Date(NOW_MS - ago * DAY_MS).toISOString().slice(0, 10);

async function values(sql: string): Promise<unknown[]> {
  const { rows } = await db.query<{ value: unknown }>({ text: `select ${sql}` });
  return rows.map(({ value }) => value);
}

const partitions = () =>
  values(`relname as value from pg_class where relkind = 'r' and relname ~ '^call_log_\\d' order by 1`);
const nameOf = (day: string): string => `call_log_${day.replaceAll('-', '_')}`;

async function addCalls(daysAgo: number[], perDay = 1): Promise<void> {
  for (const ago of daysAgo) {
    await ensurePartition(db, dayAt(ago));
    const call = {
      developerId: 'dev_1',
      keyId: 'key_1',
      requestId: 'req_1',
      method: 'GET',
      endpoint: '/v1/tools',
      status: 200,
      atMs: Date.parse(`${dayAt(ago)}T23:59:59.999Z`),
      responseTimeMs: 1,
    };
    await insertCalls(
      db,
      Array.from({ length: perDay }, () => call),
    );
  }
}

/** Text of a moment so many days before now. */
const ago = (days: number): string => `timestamptz '${new Date(NOW_MS - days * DAY_MS).toISOString()}'`;

async function run(sql: string): Promise<void> {
  await db.query({ text: sql });
}

function addEvents(prefix: string, count: number, dispatchedAt: string): Promise<void> {
  return run(`insert into outbox_events (developer_id, id, type, data, dispatched_at)
    select 'dev_1', '${prefix}' || n, 'tool.executed', '{}', ${dispatchedAt} from generate_series(1, ${count}) n`);
}

async function addDelivery(id: string, status: string, delivery: { message: string; at: string }): Promise<void> {
  await run(`insert into webhook_subscriptions (developer_id, id, event, url)
    values ('dev_1', 'hook_1', 'tool.executed', 'https://example.com') on conflict do nothing`);
  await run(`insert into webhook_messages (developer_id, id, event, body, created_at)
    values ('dev_1', '${delivery.message}', 'tool.executed', '{}', ${delivery.at}) on conflict do nothing`);
  await run(`insert into webhook_deliveries
      (developer_id, id, subscription_id, message_id, status, due_at, created_at, updated_at)
    values ('dev_1', '${id}', 'hook_1', '${delivery.message}', '${status}', ${delivery.at}, ${delivery.at}, ${delivery.at})`);
}

describe('the log of calls', () => {
  test('gives back the space of days that are over, and keeps every call that is young enough', async () => {
    await addCalls([40, 12, 11], 1000);
    await addCalls([10, 9, 1, 0]);
    const before = await values('sum(pg_total_relation_size(inhrelid))::int as value from pg_inherits');
    await prune();
    const kept = [10, 9, 1, 0, -1, -2, -3].map((days) => nameOf(dayAt(days)));
    expect(await partitions()).toEqual(kept);
    const after = await values('sum(pg_total_relation_size(inhrelid))::int as value from pg_inherits');
    expect(Number(after[0])).toBeLessThan(Number(before[0]) - 100_000);
    expect(await values(`count(*) as value from call_log`)).toEqual([4]);
  });

  test('a day that somebody reads is left for another hour, and calls are written meanwhile', async () => {
    await addCalls([40, 0]);
    const reader = await db.connect();
    await reader.query('begin');
    await reader.query(`select from ${nameOf(dayAt(40))}`);
    const pruned = prune();
    let slowestMs = 0;
    for (let n = 0; n < 20; n++) {
      const began = performance.now();
      await addCalls([0]);
      slowestMs = Math.max(slowestMs, performance.now() - began);
    }
    await pruned;
    expect(slowestMs).toBeLessThan(1000);
    expect(await partitions()).toContain(nameOf(dayAt(40)));
    await reader.query('commit');
    await reader.end();
    await prune();
    expect(await partitions()).not.toContain(nameOf(dayAt(40)));
  });
});

describe('events', () => {
  test('that were handed over yesterday go, in pieces of 5,000; the others stay', async () => {
    await addEvents('old', 11_000, ago(1.01));
    await addEvents('young', 10, ago(0.99));
    await addEvents('waiting', 10, 'null');
    await prune();
    expect(pieces).toEqual([5000, 5000, 1000, 0, 0]);
    expect(await values(`left(id, 5) || count(*) as value from outbox_events group by left(id, 5) order by 1`)).toEqual(
      ['waiti10', 'young10'],
    );
  });

  test('one that another process works on is passed over', async () => {
    await addEvents('old', 3, ago(2));
    const other = await db.connect();
    await other.query('begin');
    await other.query(`select from outbox_events where id = 'old2' for update`);
    await prune();
    expect(await values('id as value from outbox_events')).toEqual(['old2']);
    await other.query('rollback');
    await other.end();
    await prune();
    expect(await values('id as value from outbox_events')).toEqual([]);
  });
});

describe('deliveries', () => {
  test('that ended long ago go, with messages that nobody needs; pending ones stay, however old', async () => {
    await addDelivery('old-delivered', 'delivered', { message: 'm1', at: ago(6) });
    await addDelivery('old-failed', 'failed', { message: 'm2', at: ago(6) });
    await addDelivery('old-pending', 'pending', { message: 'm2', at: ago(90) });
    await addDelivery('young', 'delivered', { message: 'm3', at: ago(4) });
    // Sent again lately.
    await addDelivery('redelivered', 'delivered', { message: 'm4', at: ago(60) });
    await run(`update webhook_deliveries set updated_at = ${ago(1)} where id = 'redelivered'`);
    await prune();
    expect(await values('id as value from webhook_deliveries order by 1')).toEqual([
      'old-pending',
      'redelivered',
      'young',
    ]);
    expect(await values('id as value from webhook_messages order by 1')).toEqual(['m2', 'm3', 'm4']);
  });

  test('messages of a subscription that was deleted go when they are old', async () => {
    await addDelivery('d1', 'pending', { message: 'old', at: ago(6) });
    await addDelivery('d2', 'pending', { message: 'young', at: ago(4) });
    await run('delete from webhook_subscriptions');
    await run('delete from webhook_deliveries');
    await prune();
    expect(await values('id as value from webhook_messages')).toEqual(['young']);
  });
});

function addJob(key: string): Promise<void> {
  return run(`select graphile_worker.add_job('nothing', '{}', job_key := '${key}', max_attempts := 3)`);
}

function ageJob(key: string, days: number, attempts: number): Promise<void> {
  return run(`update graphile_worker._private_jobs set attempts = ${attempts}, updated_at = ${ago(days)}
    where key = '${key}'`);
}

test('jobs that were given up a month ago go; those that fail now, or wait, stay', async () => {
  for (const key of ['old', 'young', 'waiting']) await addJob(key);
  await ageJob('old', 31, 3);
  await ageJob('young', 29, 3);
  await ageJob('waiting', 31, 2);
  await prune();
  expect(await values('key as value from graphile_worker._private_jobs order by 1')).toEqual(['waiting', 'young']);
});

test('a stop ends it between two pieces', async () => {
  await addEvents('old', 6000, ago(2));
  await expect(prune(AbortSignal.abort())).rejects.toThrow('abort');
  expect(await values('count(*) as value from outbox_events')).toEqual([1000]);
});

test('a queue takes it on, once an hour', async () => {
  const { tasks, cron } = pruningTask({ database: db, settings, log });
  const queue = createQueue({ database: db, tasks, cron, log });
  await queue.start();
  await expect
    .poll(() => values('identifier as value from graphile_worker._private_known_crontabs'))
    .toEqual(['prune']);
  await queue.stop();
  expect(cron.map(({ match }) => match)).toEqual([expect.stringMatching(/^\d+ \* \* \* \*$/)]);
});
