import type { ChildProcess } from 'node:child_process';
import { chown, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { once } from 'node:events';
import { isAlive } from './is-alive.ts';
import type { Binaries } from './binaries.ts';
import { SERVER_ENV } from './server-settings.ts';
import type { Launcher, User } from './server-user.ts';

/** Superuser and database of the service. */
export const ROLE = 'tessera';

const INIT_ARGS = [
  `--username=${ROLE}`,
  '--auth=trust',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
];

async function isPresent(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function outcome(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString('utf8');
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  await once(child, 'close');
  return { code: child.exitCode, output };
}

async function chownAll(path: string, user: User): Promise<void> {
  const names = await readdir(path, { recursive: true });
  await chown(path, user.uid, user.gid);
  for (const name of names) await chown(join(path, name), user.uid, user.gid);
}

/** Gives an existing cluster to the user that will run it; a cluster copied by root belongs to root. */
async function takeOver(cluster: string, user: User | undefined): Promise<void> {
  const { uid } = await lstat(cluster);
  const wanted = user?.uid ?? process.getuid?.();
  if (uid === wanted) return;
  if (user) return chownAll(cluster, user);
  throw new Error(
    `The folder ${cluster} belongs to another user (uid ${uid}): start as that user, or choose another DATA_DIR.`,
  );
}

/** Removes folders that a starter left half made when it was killed. */
async function removeLeftovers(cluster: string): Promise<void> {
  const prefix = `${basename(cluster)}.new-`;
  const names = (await readdir(dirname(cluster))).filter((name) => name.startsWith(prefix));
  for (const name of names) {
    const pid = Number(name.slice(prefix.length));
    if (pid !== process.pid && isAlive(pid)) continue;
    await rm(join(dirname(cluster), name), { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

/** Puts a finished cluster in its place, unless another starter was first. */
async function moveIntoPlace(made: string, cluster: string): Promise<void> {
  try {
    await rename(made, cluster);
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    if (!(await isPresent(join(cluster, 'PG_VERSION')))) throw error;
  }
}

/**
 * Makes the cluster if there is none. It is made beside its place and moved there when complete, so that a starter
 * killed half-way leaves nothing that looks like a cluster.
 */
export async function initCluster(binaries: Binaries, launcher: Launcher, cluster: string): Promise<void> {
  if (await isPresent(join(cluster, 'PG_VERSION'))) return takeOver(cluster, launcher.user);
  await removeLeftovers(cluster);
  const made = `${cluster}.new-${process.pid}`;
  await mkdir(made, { mode: 0o700 });
  if (launcher.user) await chown(made, launcher.user.uid, launcher.user.gid);
  const child = launcher.spawn(binaries.initdb, ['-D', made, ...INIT_ARGS], {
    cwd: '/',
    env: SERVER_ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Out of reach of Ctrl-C in the terminal.
    detached: true,
  });
  const { code, output } = await outcome(child);
  if (code === 0) return moveIntoPlace(made, cluster);
  await rm(made, { recursive: true, force: true });
  throw new Error(
    `The database could not be created in ${cluster}: ${output.trim().split('\n').at(-1) ?? 'initdb failed'}`,
  );
}
