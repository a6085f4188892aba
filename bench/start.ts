// How long `npm start` takes until /readyz answers 200, on the first boot and with an existing database, and how much
// memory the Node process holds when idle. Usage: node bench/start.ts [rounds]
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './lib/child.ts';
import { HOST, ROOT } from './lib/service.ts';
import { cell, median, printTable } from './lib/stats.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
/** V8 gives back what starting left behind once nothing has happened for some ten seconds. */
const IDLE_MS = 20_000;

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://${HOST}:${port}/readyz`)).status === 200;
  } catch {
    return false;
  }
}

/** Starts as a user does and gives the milliseconds until it is ready. */
async function start(dataDir: string): Promise<{ npm: ChildProcess; ms: number }> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'warn' };
  const startedAt = performance.now();
  const npm = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] });
  while (!(await isReady(port))) {
    if (npm.exitCode !== null) throw new Error(`npm start ended with ${npm.exitCode}`);
    await sleep(5);
  }
  return { npm, ms: performance.now() - startedAt };
}

/** The service's process below npm (and the shell that npm may start it with). */
async function serviceOf(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean);
  const first = children[0];
  if (first === undefined) return pid;
  const command = await readFile(`/proc/${first}/cmdline`, 'utf8');
  return command.includes('postgres') ? pid : serviceOf(Number(first));
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

async function stop(npm: ChildProcess): Promise<void> {
  const exited = once(npm, 'exit');
  process.kill(await serviceOf(npm.pid ?? 0), 'SIGTERM');
  await exited;
}

const first: number[] = [];
const again: number[] = [];
const memory: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const dataDir = await mkdtemp(join(tmpdir(), 'tessera-bench-start-'));
  const fresh = await start(dataDir);
  first.push(fresh.ms);
  await stop(fresh.npm);
  const warm = await start(dataDir);
  again.push(warm.ms);
  await sleep(IDLE_MS);
  memory.push(await residentMb(await serviceOf(warm.npm.pid ?? 0)));
  await stop(warm.npm);
  await rm(dataDir, { recursive: true, force: true });
}
printTable(
  `npm start, ${ROUNDS} rounds`,
  ['', 'median', 'worst'],
  [
    ['first boot, ms', cell(median(first)), cell(Math.max(...first))],
    ['existing database, ms', cell(median(again)), cell(Math.max(...again))],
    ['idle memory of the Node process, MB', cell(median(memory)), cell(Math.max(...memory))],
  ],
);
