import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const dataDirs = new Set<string>();

export async function makeDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tessera-process-'));
  dataDirs.add(dataDir);
  return dataDir;
}

/** Kills what runs in the folders that were made, and removes them. */
export async function removeDataDirs(): Promise<void> {
  for (const dataDir of dataDirs) {
    await signalPostgres(dataDir, 'SIGKILL');
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
  dataDirs.clear();
}

/** Address of the PostgreSQL that runs in a data folder. */
export function databaseUrlOf(dataDir: string): string {
  return `postgresql://tessera@localhost/tessera?host=${encodeURIComponent(join(dataDir, 'postgres'))}`;
}

/** The PostgreSQL server of a data folder; undefined when none runs. */
export async function postgresPid(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return pid > 0 && isAlive(pid) ? pid : undefined;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Signals a process, or with a negative number its group; one that has ended is left in peace. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}

/** Processes whose parent is this one. */
async function childrenOf(pid: number): Promise<number[]> {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(
    names.map(async (name) => ({ name, stat: await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') })),
  );
  // The name in parentheses may hold spaces; state and parent follow it.
  return stats.filter(({ stat }) => Number(/\) \S (\d+) /.exec(stat)?.[1]) === pid).map(({ name }) => Number(name));
}

/** Signals the PostgreSQL server of a data folder and every process of it. */
export async function signalPostgres(dataDir: string, name: NodeJS.Signals): Promise<void> {
  const pid = await postgresPid(dataDir);
  if (pid === undefined) return;
  // Held still first: a process that it begins while the others are looked for would be missed.
  send(pid, 'SIGSTOP');
  for (const member of [pid, ...(await childrenOf(pid))]) send(member, name);
}
