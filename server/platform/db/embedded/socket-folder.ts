import { createHash } from 'node:crypto';
import { chown, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { User } from './server-user.ts';

/** Bytes of the longest path that a socket can have on Linux (108 with the end mark) and, less, on macOS (104). */
const MAX_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107;
const SOCKET_NAME = '.s.PGSQL.5432';

/**
 * The folder for the server's socket: the cluster itself, which is closed to others. A path too long for a socket
 * gets a short folder under the system's temporary one, closed as well.
 */
export async function chooseSocketFolder(cluster: string, user: User | undefined): Promise<string> {
  if (Buffer.byteLength(join(cluster, SOCKET_NAME)) <= MAX_SOCKET_PATH) return cluster;
  const folder = join(tmpdir(), `tessera-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`);
  const wanted = user?.uid ?? process.getuid?.();
  try {
    await mkdir(folder, { mode: 0o700 });
    if (user) await chown(folder, user.uid, user.gid);
  } catch (error) {
    const found = await lstat(folder).catch(() => undefined);
    const isOurs = found?.isDirectory() === true && found.uid === wanted && (found.mode & 0o077) === 0;
    if (!isOurs)
      throw new Error(`The folder ${folder} is needed for a socket, but belongs to somebody else.`, { cause: error });
  }
  return folder;
}
