import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { readPostmaster } from './postmaster-file.ts';
import { SERVER_ENV, serverArgs } from './server-settings.ts';
import type { Launcher } from './server-user.ts';

const MAX_LOG_BYTES = 10_000_000;
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 10;
const LOG_TAIL_BYTES = 4096;

export interface ServerPlace {
  binaries: Binaries;
  launcher: Launcher;
  cluster: string;
  socketFolder: string;
  logFile: string;
}

/** A server that was spawned. `failure` is what it said last, once it ended. */
export interface Spawned {
  failure: () => string | undefined;
}

function openLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** What the server said from `offset` on, at most the last few lines. */
function readTail(file: string, offset: number): string {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    const from = Math.max(offset, size - LOG_TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - from));
    readSync(handle, buffer, 0, buffer.length, from);
    return buffer.toString('utf8').trim();
  } finally {
    closeSync(handle);
  }
}

/** Starts a server in its own process group: Ctrl-C in the terminal must not reach it before our own clean stop. */
export function spawnServer({ binaries, launcher, cluster, socketFolder, logFile }: ServerPlace): Spawned {
  const log = openLog(logFile);
  const offset = fstatSync(log).size;
  let ending: string | undefined;
  const child = launcher.spawn(binaries.postgres, serverArgs(cluster, socketFolder), {
    cwd: '/',
    env: SERVER_ENV,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  child.on('error', (error) => (ending = error.message));
  child.on('exit', (code, signal) => (ending = `the server ended with ${signal ?? code}`));
  child.unref();
  return { failure: () => ending && (readTail(logFile, offset) || ending) };
}

/** Forgets a postmaster.pid whose number belongs to a stranger now; the server itself would take it for a live one. */
export async function forgetForeign(cluster: string): Promise<void> {
  const found = await readPostmaster(cluster);
  if (found?.isForeign === true) await rm(join(cluster, 'postmaster.pid'), { force: true });
}

/** Whether the server took its note away, the last thing it does, or died. Its process may linger as a zombie. */
async function waitForEnd(cluster: string, pid: number): Promise<boolean> {
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while ((await readPostmaster(cluster))?.pid === pid) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

function send(pid: number, signal: 'SIGINT' | 'SIGQUIT'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself just now.
  }
}

/** Stops the cluster's server: running transactions are undone, what was committed is kept. Harder after 10 seconds. */
export async function stopServer({ cluster, socketFolder }: ServerPlace): Promise<void> {
  const found = await readPostmaster(cluster);
  if (!found || found.isForeign) return;
  send(found.pid, 'SIGINT');
  if (!(await waitForEnd(cluster, found.pid))) {
    send(found.pid, 'SIGQUIT');
    await waitForEnd(cluster, found.pid);
  }
  // Empty by now; made anew at the next start.
  if (socketFolder !== cluster) await rmdir(socketFolder).catch(() => undefined);
}
