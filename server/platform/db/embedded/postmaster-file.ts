import { readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from './is-alive.ts';

/** What a running server writes about itself into its cluster. */
export interface Postmaster {
  pid: number;
  socketFolder: string;
}

/** Whether a process works on this cluster: a server's working directory is its cluster. True where that cannot be seen. */
async function worksOn(pid: number, cluster: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(cluster));
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES';
  }
}

/**
 * Reads postmaster.pid. Undefined when there is none or its process is gone; `isForeign` when its number now belongs to
 * a process that has nothing to do with the cluster.
 */
export async function readPostmaster(cluster: string): Promise<(Postmaster & { isForeign: boolean }) | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!isAlive(pid)) return undefined;
  return { pid, socketFolder: lines[4] ?? '', isForeign: !(await worksOn(pid, cluster)) };
}
