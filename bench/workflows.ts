// A workflow of three trivial steps, from asking for a run to its end: ours over HTTP, three jobs of graphile-worker that
// queue each other and DBOS on the same database, and Restate on a disk log of its own where it starts.
// Usage: node bench/workflows.ts [rounds]
import type { Engine } from './lib/engines/engine.ts';
import { timed } from './lib/engines/engine.ts';
import { startDbos } from './lib/engines/dbos.ts';
import { startGraphile } from './lib/engines/graphile.ts';
import { startRestate } from './lib/engines/restate.ts';
import { startTessera } from './lib/engines/tessera.ts';
import { startBenchService } from './lib/service.ts';
import { cell, median, printTable } from './lib/stats.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const WARM_UP = 30;
const SINGLE_RUNS = 200;
const RUNS = 2000;
const CONCURRENCY = 32;

const service = await startBenchService();

async function startAll(): Promise<Engine[]> {
  const engines = [
    await startTessera(service, CONCURRENCY),
    await startGraphile(service.databaseUrl, CONCURRENCY),
    await startDbos(service.databaseUrl, CONCURRENCY),
  ];
  try {
    engines.push(await startRestate(CONCURRENCY));
  } catch (error) {
    process.stdout.write(`Restate is left out: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  return engines;
}

async function p50Of({ one }: Engine): Promise<number> {
  for (let i = 0; i < WARM_UP; i++) await one();
  const samples: number[] = [];
  for (let i = 0; i < SINGLE_RUNS; i++) samples.push(await one());
  return median(samples);
}

async function rateOf({ all }: Engine): Promise<number> {
  return RUNS / ((await timed(() => all(RUNS, CONCURRENCY))) / 1000);
}

const engines = await startAll();
const figures = new Map(engines.map((engine) => [engine, { p50: new Array<number>(), rate: new Array<number>() }]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [engine, { p50, rate }] of figures) {
    p50.push(await p50Of(engine));
    rate.push(await rateOf(engine));
  }
}
printTable(
  `three trivial steps, ${ROUNDS} interleaved rounds, medians`,
  ['', 'p50 ms at 1', `runs/s at ${CONCURRENCY}`],
  [...figures].map(([{ name }, { p50, rate }]) => [name, cell(median(p50)), cell(median(rate))]),
);
for (const engine of engines) await engine.stop();
await service.stop();
// The endpoint that Restate calls has no end of its own.
process.exit(0);
