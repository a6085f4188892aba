// Ten thousand runs of three trivial steps queued at once: that none is lost, the memory of the service, and how long the
// API takes meanwhile. Usage: node bench/workflow-backlog.ts [runs]
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { times } from './lib/engines/engine.ts';
import { RawConnection, requestBytes } from './lib/http-client.ts';
import { startBenchService, type BenchService } from './lib/service.ts';
import { cell, printTable, quantile } from './lib/stats.ts';

const RUNS = Number(process.argv[2] ?? 10_000);
const STARTERS = 64;
const QUIET_CALLS = 3000;
const PAUSE_MS = 2;
const NODES = ['a', 'b', 'c'].map((id) => ({ id, type: 'condition', config: { left: 1, operator: '==', right: 1 } }));
const EDGES = [
  { from: 'a', to: 'b' },
  { from: 'b', to: 'c' },
];

async function residentMb({ child }: BenchService): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Milliseconds of single calls, one after the other with a pause, until there is enough. */
async function callTimes(service: BenchService, path: string, isEnough: (count: number) => boolean): Promise<number[]> {
  const request = service.request('GET', path);
  const connection = await RawConnection.open(request);
  const bytes = requestBytes(request);
  const samples: number[] = [];
  while (!isEnough(samples.length)) {
    const startedAt = performance.now();
    await connection.send(bytes);
    samples.push(performance.now() - startedAt);
    await sleep(PAUSE_MS);
  }
  connection.close();
  return samples;
}

async function createWorkflow(service: BenchService): Promise<string> {
  const request = service.request('POST', '/v1/workflows', { name: 'Backlog', nodes: NODES, edges: EDGES });
  const connection = await RawConnection.open(request);
  const id = /"_id":"(wf_\w+)"/.exec(await connection.send(requestBytes(request)))?.[1];
  connection.close();
  if (id === undefined) throw new Error('no workflow was created');
  return `/v1/workflows/${id}`;
}

async function queueRuns(service: BenchService, path: string): Promise<void> {
  const request = service.request('POST', `${path}/run`, {});
  const connections = await Promise.all(Array.from({ length: STARTERS }, () => RawConnection.open(request)));
  await times(RUNS, STARTERS, async (caller) => connections[caller]?.send(requestBytes(request)));
  for (const connection of connections) connection.close();
}

const service = await startBenchService();
const pool = new Pool({ connectionString: service.databaseUrl, max: 1 });
const path = await createWorkflow(service);
const quiet = await callTimes(service, path, (count) => count >= QUIET_CALLS);
const idleMb = await residentMb(service);

const startedAt = performance.now();
await queueRuns(service, path);
const queuedMs = performance.now() - startedAt;
const countCompleted = async (): Promise<number> =>
  (await pool.query(`select from workflow_runs where status = 'completed'`)).rowCount ?? 0;
let [isDone, peakMb] = [false, 0];
const busy = callTimes(service, path, () => isDone);
for (; !isDone; await sleep(100)) {
  isDone = (await countCompleted()) >= RUNS;
  peakMb = Math.max(peakMb, await residentMb(service));
}
const drainedMs = performance.now() - startedAt;
const during = await busy;

printTable(
  `${RUNS} runs of three trivial steps at once`,
  ['', ''],
  [
    ['queued after, s', cell(queuedMs / 1000)],
    ['all completed after, s', cell(drainedMs / 1000)],
    ['memory before and at most, MB', `${cell(idleMb)} ${cell(peakMb)}`],
    ['calls before: p50 and p99, ms', `${cell(quantile(quiet, 0.5))} ${cell(quantile(quiet, 0.99))}`],
    ['calls meanwhile: p50 and p99, ms', `${cell(quantile(during, 0.5))} ${cell(quantile(during, 0.99))}`],
  ],
);
await pool.end();
await service.stop();
