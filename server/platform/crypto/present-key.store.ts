import { prepared, withSessionLock, type Database, type Transaction } from '../db/index.ts';

/** Any number that nothing else locks. */
const LOCK_KEY = 8_377_374;

const hold = prepared('select pg_advisory_xact_lock_shared($1)');

/** Says that the transaction seals under the key that is present from now on. */
export async function holdPresentKey(tx: Transaction): Promise<void> {
  await tx.query(hold([LOCK_KEY]));
}

/** Resolves when everything that was sealed under a key that was present before is committed or undone. */
export async function waitForSealers(database: Database): Promise<void> {
  await withSessionLock(database, LOCK_KEY, () => Promise.resolve());
}
