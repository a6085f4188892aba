// Ten thousand runs of three trivial steps that wait at once: that none is lost, the memory of the service, and what the
// calls of its API take from the moment they are queued to the end of the last, beside what they take before. Measured
// twice: one process that does everything, and an api process beside a worker process on the same database, where what
// is left is the share of the processors that PostgreSQL and the worker take.
// Usage: node bench/workflow-backlog.ts [runs] [rounds]
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { createId } from '../server/platform/ids/index.ts';
import { times } from './lib/engines/engine.ts';
import { RawConnection, requestBytes } from './lib/http-client.ts';
import { startBenchService, type BenchService } from './lib/service.ts';
import { cell, median, printTable, quantile } from './lib/stats.ts';

const RUNS = Number(process.argv[2] ?? 10_000);
const ROUNDS = Number(process.argv[3] ?? 3);
const STARTERS = 64;
const QUIET_MS = 6000;
/** Between two calls. */
const PAUSE_MS = 2;
const NODES = ['a', 'b', 'c'].map((id) => ({ id, type: 'condition', config: { left: 1, operator: '==', right: 1 } }));
const EDGES = [
  { from: 'a', to: 'b' },
  { from: 'b', to: 'c' },
];

/** One workflow of a service, and its runs. */
interface Subject {
  service: BenchService;
  path: string;
  pool: Pool;
}

async function residentMb({ child }: BenchService): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Milliseconds of single calls, one after the other with a pause, until it is over. */
async function callTimes({ service, path }: Subject, isOver: () => boolean): Promise<number[]> {
  const request = service.request('GET', path);
  const connection = await RawConnection.open(request);
  const bytes = requestBytes(request);
  const samples: number[] = [];
  while (!isOver()) {
    const startedAt = performance.now();
    await connection.send(bytes);
    samples.push(performance.now() - startedAt);
    await sleep(PAUSE_MS);
  }
  connection.close();
  return samples;
}

async function openSubject(service: BenchService): Promise<Subject> {
  const pool = new Pool({ connectionString: service.databaseUrl, max: 1 });
  const request = service.request('POST', '/v1/workflows', { name: 'Backlog', nodes: NODES, edges: EDGES });
  const connection = await RawConnection.open(request);
  const id = /"_id":"(wf_\w+)"/.exec(await connection.send(requestBytes(request)))?.[1];
  connection.close();
  if (id === undefined) throw new Error('no workflow was created');
  return { service, path: `/v1/workflows/${id}`, pool };
}

async function countOpen({ pool }: Subject): Promise<number> {
  const text = `select count(*)::int as open from workflow_runs where status in ('pending', 'running')`;
  return (await pool.query<{ open: number }>(text)).rows[0]?.open ?? 0;
}

/** Asks the API for all of them, from many connections. */
async function queueByApi({ service, path }: Subject): Promise<void> {
  const request = service.request('POST', `${path}/run`, {});
  const connections = await Promise.all(Array.from({ length: STARTERS }, () => RawConnection.open(request)));
  await times(RUNS, STARTERS, async (caller) => connections[caller]?.send(requestBytes(request)));
  for (const connection of connections) connection.close();
}

/** Has all of them wait at one moment, without a load of requests: copies of one that has ended. */
async function queueAtOnce({ pool }: Subject): Promise<void> {
  const ids = Array.from({ length: RUNS }, () => createId('run'));
  await pool.query('begin');
  await pool.query(
    `insert into workflow_runs (developer_id, id, workflow_id, workflow_name, triggered_by, trigger_data, definition, depth)
      select developer_id, new_id, workflow_id, workflow_name, triggered_by, trigger_data, definition, depth
      from (select * from workflow_runs where status = 'completed' limit 1), unnest($1::text[]) as new_id`,
    [ids],
  );
  await pool.query(`select pg_notify('workflow_runs', '')`);
  await pool.query('commit');
}

async function untilDrained(subject: Subject): Promise<void> {
  while ((await countOpen(subject)) > 0) await sleep(100);
}

interface Figures {
  before: number[];
  meanwhile: number[];
  drainedS: number;
  peakMb: number;
}

/** Calls while nothing waits, then calls until nothing waits any more. */
async function measureRound(subject: Subject, worker: BenchService): Promise<Figures> {
  const quietUntil = performance.now() + QUIET_MS;
  const before = await callTimes(subject, () => performance.now() > quietUntil);
  let [isDone, peakMb] = [false, 0];
  await queueAtOnce(subject);
  const startedAt = performance.now();
  const calls = callTimes(subject, () => isDone);
  while ((await countOpen(subject)) > 0) {
    peakMb = Math.max(peakMb, await residentMb(worker));
    await sleep(100);
  }
  isDone = true;
  const drainedS = (performance.now() - startedAt) / 1000;
  return { before, meanwhile: await calls, drainedS, peakMb };
}

function rowsOf(title: string, figures: readonly Figures[]): string[][] {
  const over = (take: (round: Figures) => number): number => median(figures.map(take));
  const around = (q: number): [number, number] => [
    over(({ before }) => quantile(before, q)),
    over(({ meanwhile }) => quantile(meanwhile, q)),
  ];
  const line = (name: string, [before, meanwhile]: [number, number]): string[] => [
    `${title}: ${name}`,
    cell(before),
    cell(meanwhile),
    cell(meanwhile / before),
  ];
  return [
    line('p50, ms', around(0.5)),
    line('p99, ms', around(0.99)),
    line('slowest, ms', around(1)),
    [`${title}: drained after, s`, '', cell(over(({ drainedS }) => drainedS)), ''],
    [`${title}: memory at most, MB`, '', cell(Math.max(...figures.map(({ peakMb }) => peakMb))), ''],
  ];
}

async function expectNoneLost({ pool }: Subject, asked: number): Promise<void> {
  const { rows } = await pool.query<{ runs: number; steps: number }>(
    `select (select count(*)::int from workflow_runs where status = 'completed') as runs,
      (select count(*)::int from workflow_steps where status = 'success') as steps`,
  );
  if (rows[0]?.runs !== asked || rows[0].steps !== asked * NODES.length) {
    throw new Error(`${asked} runs were queued, and there are ${JSON.stringify(rows[0])}`);
  }
}

async function measure(title: string, service: BenchService, worker: BenchService): Promise<string[][]> {
  const subject = await openSubject(service);
  const startedAt = performance.now();
  await queueByApi(subject);
  const queuedS = (performance.now() - startedAt) / 1000;
  await untilDrained(subject);
  const byApi = [`${title}: ${RUNS} by API, queued and drained after, s`, cell(queuedS)];
  byApi.push(cell((performance.now() - startedAt) / 1000), '');
  const figures: Figures[] = [];
  for (let round = 0; round < ROUNDS; round++) figures.push(await measureRound(subject, worker));
  await expectNoneLost(subject, RUNS * (ROUNDS + 1));
  await subject.pool.end();
  return [byApi, ...rowsOf(title, figures)];
}

const all = await startBenchService();
const rows = await measure('one process', all, all);
await all.stop();

const api = await startBenchService({ ROLE: 'api' });
const worker = await startBenchService({ ROLE: 'worker', DATABASE_URL: api.databaseUrl });
rows.push(...(await measure('api beside worker', api, worker)));
await worker.stop();
await api.stop();
printTable(`${RUNS} runs of three trivial steps, medians of ${ROUNDS} rounds`, ['', 'before', 'meanwhile', 'x'], rows);
