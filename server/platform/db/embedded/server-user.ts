import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Binaries } from './binaries.ts';

export interface User {
  uid: number;
  gid: number;
}

/** How PostgreSQL programs are run: as whom, and by what means. */
export interface Launcher {
  /** Owner that the cluster's files must have; undefined when it is whoever runs this process. */
  user: User | undefined;
  spawn: (file: string, args: readonly string[], options: SpawnOptions) => ChildProcess;
}

const NOBODY: User = { uid: 65_534, gid: 65_534 };
const SETPRIV_PLACES = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv'];
/** Containers grant it to root as a rule, unlike dac_read_search. */
const CAPABILITY = '+dac_override';

async function lookUp(name: string): Promise<User | undefined> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const fields = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .find(([user]) => user === name);
  return fields && { uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** The user that root hands the cluster to: the one asked for, whoever owns it already, else nobody. */
async function chooseUser(cluster: string, name: string | undefined): Promise<User> {
  if (name !== undefined) {
    const user = await lookUp(name);
    if (user && user.uid !== 0) return user;
    throw new Error(`TESSERA_PG_USER names "${name}", which is no user of this machine other than root.`);
  }
  const owner = await stat(cluster).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return (await lookUp('nobody')) ?? NOBODY;
}

/** Whether the permission bits let the user pass through every folder above a path, and read it itself. */
async function canReach(path: string, user: User): Promise<boolean> {
  const { uid, gid, mode } = await stat(path);
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  if (((mode >> shift) & 1) === 0) return false;
  const parent = dirname(path);
  return parent === path || canReach(parent, user);
}

async function findSetpriv(): Promise<string | undefined> {
  for (const place of SETPRIV_PLACES) {
    const isThere = await access(place).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  return undefined;
}

/** `no_setuid_fixup` lets access(2), by which initdb looks for its programs, see the capabilities too. */
function setprivArgs({ uid, gid }: User): string[] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  return [...ids, '--securebits=+no_setuid_fixup', `--inh-caps=${CAPABILITY}`, `--ambient-caps=${CAPABILITY}`, '--'];
}

/**
 * PostgreSQL refuses to run as root. Root starts it as another user; where that user cannot reach the files, because
 * a folder above them is closed to others, with the one capability that lets it pass.
 * Throws an Error of one line when neither is possible.
 */
export async function createLauncher(
  binaries: Binaries,
  { cluster, serverUser }: { cluster: string; serverUser: string | undefined },
): Promise<Launcher> {
  if (process.getuid?.() !== 0) return { user: undefined, spawn };
  const user = await chooseUser(cluster, serverUser);
  const places = [binaries.postgres, join(binaries.folder, 'lib'), join(binaries.folder, 'share'), dirname(cluster)];
  const reachable = await Promise.all(places.map((place) => canReach(place, user)));
  if (!reachable.includes(false)) {
    return { user, spawn: (file, args, options) => spawn(file, args, { ...options, ...user }) };
  }
  const setpriv = await findSetpriv();
  const closed = places[reachable.indexOf(false)];
  const launcher = setpriv === undefined ? undefined : privilegedLauncher(setpriv, user);
  if (launcher && (await canRun(launcher, binaries.postgres))) return launcher;
  throw new Error(
    `PostgreSQL cannot run as root, and user ${user.uid} cannot reach ${closed}: start as another user, move the files out of the closed folder, or let setpriv (util-linux) grant CAP_DAC_OVERRIDE.`,
  );
}

function privilegedLauncher(setpriv: string, user: User): Launcher {
  return { user, spawn: (file, args, options) => spawn(setpriv, [...setprivArgs(user), file, ...args], options) };
}

async function canRun(launcher: Launcher, postgres: string): Promise<boolean> {
  const child = launcher.spawn(postgres, ['--version'], { stdio: 'ignore', cwd: '/' });
  await once(child, 'close');
  return child.exitCode === 0;
}
