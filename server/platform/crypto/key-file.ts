import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { chown, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createMasterKey, decodeMasterKeys, encodeMasterKeys, type MasterKey } from './master-key.ts';

const FILE = 'master.key';

export function keyFileOf(dataDir: string): string {
  return join(dataDir, FILE);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

async function writeDurably(path: string, text: string, flag: 'w' | 'wx'): Promise<void> {
  const file = await open(path, flag, 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the file unless it is there. It appears complete or not at all, so nobody reads, or is left with, half a key. */
export async function makeKeyFile(folder: string): Promise<void> {
  // Open to pass through, for the user that runs the embedded database in it.
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const draft = join(folder, `${FILE}.${randomBytes(8).toString('hex')}`);
  try {
    await writeDurably(draft, encodeMasterKeys([createMasterKey()]), 'wx');
    // As exclusive as O_EXCL: of two starts at the same time, one gets here first and both read its key.
    await link(draft, keyFileOf(folder)).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(folder);
}

/** Puts other keys in the place of those in the file, all at once. It stays its owner's, whoever does this. */
export async function replaceKeyFile(folder: string, keys: readonly MasterKey[]): Promise<void> {
  const path = keyFileOf(folder);
  const { uid, gid } = await stat(path);
  // Always the same name: what an attempt that was killed left is written over, and not left lying about.
  const draft = `${path}.draft`;
  await writeDurably(draft, encodeMasterKeys(keys), 'w');
  if (uid !== process.getuid?.()) await chown(draft, uid, gid);
  await rename(draft, path);
  await syncFolder(folder);
}

/** Changes whenever the file is replaced or written; undefined where there is none. */
export function keyFileMark(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeNs} ${found.size}`;
}

/** The keys in the file. Throws an Error that names it when it does not hold keys. */
export function readKeyFile(path: string): readonly [MasterKey, ...MasterKey[]] {
  const text = readFileSync(path, 'utf8');
  const keys = decodeMasterKeys(text.trim());
  if (keys) return keys;
  throw new Error(
    `The key file ${path} is damaged: it must hold 32 bytes in base64, and is ${Buffer.byteLength(text)} bytes long. ` +
      'Restore it from a backup; without it, stored credentials cannot be read.',
  );
}
