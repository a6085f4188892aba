import type { Database } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { noSuchRun } from './no-such-workflow.ts';
import { notifyRuns } from './notify-runs.ts';
import { copyFailedRun, findRun, type RunKey } from './run.store.ts';

/** Queues a new run that keeps the steps which succeeded; gives its id. */
export async function retryRun(database: Database, key: RunKey): Promise<string> {
  const newId = createId('run');
  await database.transaction(async (tx) => {
    const row = await findRun(tx, key);
    if (!row) throw noSuchRun(key.runId);
    if (!(await copyFailedRun(tx, key, newId))) throw new AppError('CONFLICT', `The run is ${row.status}, not failed.`);
    await notifyRuns(tx);
  });
  return newId;
}
