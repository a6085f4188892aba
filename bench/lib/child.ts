import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that a benchmark started. */
export interface Child {
  pid: number;
  process: ChildProcess;
  stop: () => Promise<void>;
}

export interface ChildOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Asked until it answers with a status below 500. */
  readyUrl: string;
}

const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) });
    await response.arrayBuffer();
    return response.status < 500;
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/** Starts a program with this Node and waits until it answers. */
export async function startChild(args: readonly string[], options: ChildOptions): Promise<Child> {
  const child = spawn(process.execPath, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!(await isAnswering(options.readyUrl))) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`${args.join(' ')} did not answer at ${options.readyUrl}`);
    await sleep(5);
  }
  return { pid: child.pid ?? 0, process: child, stop: () => stop(child) };
}
