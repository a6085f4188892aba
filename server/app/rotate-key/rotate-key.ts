import type { Logger } from 'pino';
import { appTables } from '../../modules/apps/index.ts';
import { eventTables } from '../../modules/events/index.ts';
import { Secret } from '../../platform/config/index.ts';
import {
  createMasterKey,
  createVault,
  keyFileMark,
  keyFileOf,
  openMasterKeys,
  readKeyFile,
  replaceKeyFile,
  resealAll,
  waitForSealers,
  type SealedTable,
} from '../../platform/crypto/index.ts';
import { findEmbedded, withSessionLock, type Database } from '../../platform/db/index.ts';
import { openStorage, type Storage } from '../open-storage.ts';
import type { AllSettings } from '../settings.ts';

/** Any number that nothing else locks. */
const ROTATION_LOCK = 8_377_375;

/** Every table that holds sealed texts. */
export const SEALED_TABLES: readonly SealedTable[] = [...appTables, ...eventTables];

export interface Rotation {
  /** Id of the key that everything is sealed under now. */
  keyId: string;
  /** Rows that were sealed anew. */
  resealed: number;
  /** Why rows could not be. The keys before are kept then. */
  failures: string[];
}

/** The database of the settings; the embedded one also while a service runs on it. */
async function openBeside(settings: AllSettings['db'], log: Logger): Promise<Storage> {
  const running = settings.DATABASE_URL ? undefined : await findEmbedded(settings.DATA_DIR);
  return openStorage(running === undefined ? settings : { ...settings, DATABASE_URL: new Secret(running) }, log);
}

/** Makes a new key the present one, unless a rotation that was interrupted did so. */
async function beginWithFile(dataDir: string): Promise<void> {
  const keys = readKeyFile(keyFileOf(dataDir));
  if (keys.length === 1) await replaceKeyFile(dataDir, [createMasterKey(), ...keys]);
}

/** Looks again until nothing is left: what was sealed while the first look went on is found by the next. */
async function resealEverything(database: Database, vault: ReturnType<typeof createVault>) {
  let resealed = 0;
  for (;;) {
    const pass = await resealAll(database, vault, SEALED_TABLES);
    resealed += pass.resealed;
    if (pass.resealed === 0) return { resealed, failures: pass.failures };
  }
}

/**
 * Seals everything under another master key, while services go on or with none. With a key file the new key is made
 * here and the one before is dropped at the end; services read the file again by themselves. With ENCRYPTION_KEY the
 * first of its keys is the new one. Interrupted anywhere, both keys stay in use, and it can be run again.
 */
export async function rotateKey(settings: AllSettings, log: Logger): Promise<Rotation> {
  const source = { given: settings.crypto.ENCRYPTION_KEY, dataDir: settings.db.DATA_DIR };
  const hasFile = source.given === undefined;
  if (hasFile && keyFileMark(keyFileOf(source.dataDir)) === undefined) {
    throw new Error(`there is no key file ${keyFileOf(source.dataDir)}: is DATA_DIR the folder of the service?`);
  }
  const storage = await openBeside(settings.db, log);
  try {
    return await withSessionLock(storage.database, ROTATION_LOCK, async () => {
      if (hasFile) await beginWithFile(source.dataDir);
      const keys = await openMasterKeys(source);
      await waitForSealers(storage.database);
      const { resealed, failures } = await resealEverything(storage.database, createVault(keys));
      if (hasFile && failures.length === 0) await replaceKeyFile(source.dataDir, [keys.present()]);
      return { keyId: keys.present().id, resealed, failures };
    });
  } finally {
    await storage.close();
  }
}
