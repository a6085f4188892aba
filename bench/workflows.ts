// A workflow of three trivial steps, from the request to the end of the run, against three jobs of graphile-worker that
// queue each other, on the same database. Usage: node bench/workflows.ts [rounds]
import { setTimeout as sleep } from 'node:timers/promises';
import { makeWorkerUtils, run, type Runner, type TaskList } from 'graphile-worker';
import { Pool } from 'pg';
import { RawConnection, requestBytes } from './lib/http-client.ts';
import { startBenchService } from './lib/service.ts';
import { cell, median, printTable } from './lib/stats.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const SINGLE_RUNS = 100;
const RUNS = 3000;
const CONCURRENCY = 32;
const POLL_MS = 1;

const service = await startBenchService();
const pool = new Pool({ connectionString: service.databaseUrl, max: 4 });
const { request } = service;

function bodyOf(answer: string): Record<string, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- answers of the service are JSON objects
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
}

const nodes = ['a', 'b', 'c'].map((id) => ({ id, type: 'condition', config: { left: 1, operator: '==', right: 1 } }));
const edges = [
  { from: 'a', to: 'b' },
  { from: 'b', to: 'c' },
];

const connections = await Promise.all(
  Array.from({ length: CONCURRENCY }, () => RawConnection.open(request('GET', '/'))),
);
const [first] = connections;
if (!first) throw new Error('no connection');
const created = bodyOf(
  await first.send(requestBytes(request('POST', '/v1/workflows', { name: 'Bench', nodes, edges }))),
);
const path = `/v1/workflows/${String(created['id'])}`;
const startRun = requestBytes(request('POST', `${path}/run`, {}));

/** Milliseconds from asking for a run to having seen that it completed. */
async function oneOfOurs(connection: RawConnection): Promise<number> {
  const startedAt = performance.now();
  const { runId } = bodyOf(await connection.send(startRun));
  const read = requestBytes(request('GET', `${path}/runs/${String(runId)}`));
  for (;;) {
    const { status } = bodyOf(await connection.send(read));
    if (status === 'completed') return performance.now() - startedAt;
    if (status === 'failed') throw new Error('a run failed');
    await sleep(POLL_MS);
  }
}

async function countCompleted(): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from workflow_runs where status = 'completed'`,
  );
  return rows[0]?.count ?? 0;
}

/** Runs per second, all of them asked for over HTTP, until the last has completed. */
async function ourRate(): Promise<number> {
  const before = await countCompleted();
  const startedAt = performance.now();
  let left = RUNS;
  await Promise.all(
    connections.map(async (connection) => {
      while (left-- > 0) await connection.send(startRun);
    }),
  );
  while ((await countCompleted()) < before + RUNS) await sleep(5);
  return RUNS / ((performance.now() - startedAt) / 1000);
}

let ended = 0;
let onEnd: (() => void) | undefined;
const taskList: TaskList = {
  a: (_payload, { addJob }) => addJob('b', {}).then(() => undefined),
  b: (_payload, { addJob }) => addJob('c', {}).then(() => undefined),
  c: () => {
    ended++;
    onEnd?.();
  },
};
const utils = await makeWorkerUtils({ pgPool: pool, schema: 'bench_worker' });
await utils.migrate();

async function withPeer<T>(body: () => Promise<T>): Promise<T> {
  const peerPool = new Pool({ connectionString: service.databaseUrl, max: CONCURRENCY + 2 });
  const runner: Runner = await run({
    pgPool: peerPool,
    schema: 'bench_worker',
    taskList,
    concurrency: CONCURRENCY,
    noHandleSignals: true,
  });
  const result = await body();
  await runner.stop();
  await peerPool.end();
  return result;
}

async function oneOfThePeer(): Promise<number> {
  const startedAt = performance.now();
  const { promise, resolve } = Promise.withResolvers<void>();
  onEnd = resolve;
  await utils.addJob('a', {});
  await promise;
  return performance.now() - startedAt;
}

async function peerRate(): Promise<number> {
  ended = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  onEnd = () => ended === RUNS && resolve();
  const startedAt = performance.now();
  let left = RUNS;
  await Promise.all(
    connections.map(async () => {
      while (left-- > 0) await utils.addJob('a', {});
    }),
  );
  await promise;
  return RUNS / ((performance.now() - startedAt) / 1000);
}

async function latenciesOf(one: () => Promise<number>): Promise<number> {
  for (let i = 0; i < 20; i++) await one();
  const samples: number[] = [];
  for (let i = 0; i < SINGLE_RUNS; i++) samples.push(await one());
  return median(samples);
}

const figures: Record<string, { p50: number[]; rate: number[] }> = {
  'graphile-worker': { p50: [], rate: [] },
  tessera: { p50: [], rate: [] },
};
for (let round = 0; round < ROUNDS; round++) {
  await withPeer(async () => {
    figures['graphile-worker']?.p50.push(await latenciesOf(oneOfThePeer));
    figures['graphile-worker']?.rate.push(await peerRate());
  });
  figures['tessera']?.p50.push(await latenciesOf(() => oneOfOurs(first)));
  figures['tessera']?.rate.push(await ourRate());
}
printTable(
  `three trivial steps, ${ROUNDS} interleaved rounds, medians`,
  ['', 'p50 ms at 1', `runs/s at ${CONCURRENCY}`],
  Object.entries(figures).map(([name, { p50, rate }]) => [name, cell(median(p50)), cell(median(rate))]),
);
for (const connection of connections) connection.close();
await utils.release();
await pool.end();
await service.stop();
