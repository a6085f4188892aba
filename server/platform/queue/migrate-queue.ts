import { withSessionLock, type Database } from '../db/index.ts';

/** Any number that nothing else locks. */
const LOCK_KEY = 8_377_374;

/**
 * Brings the queue's own schema, graphile_worker, up to date. Needed once before the first `enqueue`. Starters take
 * turns: the library tolerates a race, but pauses half a second for it.
 */
export async function migrateQueue({ database }: { database: Database }): Promise<void> {
  // Loaded late: it costs 36 ms and 8 MB, which commands that never touch the queue do not owe.
  const { runMigrations } = await import('graphile-worker');
  await withSessionLock(database, LOCK_KEY, () => runMigrations({ pgPool: database.pool }));
}
