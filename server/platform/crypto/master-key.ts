import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secret } from '../config/index.ts';

export const MASTER_KEY_BYTES = 32;
const FILE = 'master.key';

/** The key that a base64 text holds; undefined when it is not base64 of exactly 32 bytes. */
export function decodeMasterKey(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/]{43}=?$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
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
async function makeKeyFile(folder: string): Promise<void> {
  // Open to pass through, for the user that runs the embedded database in it.
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const draft = join(folder, `${FILE}.${randomBytes(8).toString('hex')}`);
  try {
    await writeDurably(draft, `${randomBytes(MASTER_KEY_BYTES).toString('base64')}\n`);
    // As exclusive as O_EXCL: of two starts at the same time, one gets here first and both read its key.
    await link(draft, join(folder, FILE)).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(folder);
}

/**
 * The key under which everything is sealed: the given one, else that of DATA_DIR/master.key, which the first start
 * makes. Throws an Error that names the file when it does not hold a key; never replaces one.
 */
export async function readMasterKey(source: { given: Secret | undefined; dataDir: string }): Promise<Buffer> {
  const path = join(source.dataDir, FILE);
  const text = source.given?.reveal() ?? (await readIfThere(path)) ?? (await makeAndRead(source.dataDir, path));
  const key = decodeMasterKey(text.trim());
  if (key) return key;
  throw new Error(
    `The key file ${path} is damaged: it must hold 32 bytes in base64, and is ${Buffer.byteLength(text)} bytes long. ` +
      'Restore it from a backup; without it, stored credentials cannot be read.',
  );
}

async function makeAndRead(folder: string, path: string): Promise<string> {
  await makeKeyFile(folder);
  return readFile(path, 'utf8');
}
