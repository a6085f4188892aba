import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate, openDatabase, startEmbedded, type Database, type EmbeddedPostgres } from '../db/index.ts';
import { createOutboxRelay, publishEvents, type OutboxRelay } from '../outbox/index.ts';
import { createQueue, enqueueAll, type Queue } from './index.ts';

const log = pino({ level: 'silent' });
const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
const BATCH = 40;

let folder: string;
let embedded: EmbeddedPostgres;
let db: Database;
let queue: Queue;
let relay: OutboxRelay;

function numberOf(value: unknown): number {
  if (typeof value === 'object' && value !== null && 'n' in value && typeof value.n === 'number') return value.n;
  throw new Error('not a number');
}

/** Every event becomes a job in the transaction that notes the event as handed over; each job leaves one row. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tessera-restart-'));
  await chmod(folder, 0o711);
  embedded = await startEmbedded({ dataDir: join(folder, 'data'), log });
  db = openDatabase({ url: embedded.url, maxConnections: 10, applicationName: 'test', onError: () => undefined });
  await migrate({ database: db, folder: MIGRATIONS });
  await db.query({ text: 'create table handed_over (n int)' });
  await db.query({ text: 'create table done (n int primary key)' });
  queue = createQueue({
    database: db,
    tasks: {
      record: async (payload) => {
        await db.query({ text: 'insert into done values ($1) on conflict do nothing', values: [numberOf(payload)] });
      },
    },
    log,
  });
  await queue.start();
  relay = await createOutboxRelay({
    database: db,
    url: embedded.url,
    listeners: [
      async (tx, events) => {
        const numbers = events.map(({ data }) => numberOf(data));
        await tx.query({ text: 'insert into handed_over select unnest($1::int[])', values: [numbers] });
        await enqueueAll(
          tx,
          numbers.map((n) => ({ task: 'record', payload: { n } })),
        );
      },
    ],
    log,
  });
});

afterAll(async () => {
  await relay.stop();
  await queue.stop();
  await db.close();
  await embedded.stop();
  await rm(folder, { recursive: true });
});

async function kill(): Promise<boolean> {
  const note = await readFile(join(folder, 'data', 'postgres', 'postmaster.pid'), 'utf8');
  return process.kill(Number(note.split('\n')[0]), 'SIGKILL');
}

/** Kills the server, once it is back from the last time: sessions outlive it for a moment and still answer. */
async function crash(): Promise<void> {
  await expect.poll(() => kill().catch(() => false), { timeout: 20_000 }).toBe(true);
}

let next = 0;

/** Publishes a batch of new numbers; gives them if their commit was acknowledged. */
async function publish(): Promise<number[]> {
  const numbers = Array.from({ length: BATCH }, () => next++);
  const events = numbers.map((n) => ({ developerId: 'dev_1', type: 'graph.synced' as const, data: { n } }));
  return db
    .transaction((tx) => publishEvents(tx, events))
    .then(
      () => numbers,
      () => [],
    );
}

async function column(table: 'handed_over' | 'done'): Promise<number[]> {
  const { rows } = await db.query<{ n: number }>({ text: `select n from ${table} order by n` });
  return rows.map(({ n }) => n);
}

test('the server crashes in the middle of the work, again and again: nothing acknowledged is lost, nothing doubled', async () => {
  const acknowledged: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (let batch = 0; batch < 4; batch++) acknowledged.push(...(await publish()));
    await crash();
    const publishAgain = async (): Promise<number> => acknowledged.push(...(await publish()));
    const before = acknowledged.length;
    await expect.poll(publishAgain, { timeout: 20_000 }).toBeGreaterThan(before);
  }
  await expect
    .poll(() => column('done').catch(() => []), { timeout: 25_000 })
    .toEqual(expect.arrayContaining(acknowledged));
  const handedOver = await column('handed_over');
  expect(new Set(handedOver).size).toBe(handedOver.length);
  await expect.poll(() => queue.depth()).toBe(0);
}, 120_000);
