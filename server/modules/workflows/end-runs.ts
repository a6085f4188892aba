import type { Database } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { publishEvents } from '../../platform/outbox/index.ts';
import { noSuchRun } from './no-such-workflow.ts';
import { copyFailedRun, endOpenRun, findRun, type RunKey } from './run.store.ts';
import { notifyRuns } from './start-run.ts';

const CANCELLED = 'The run was cancelled.';

/** Ends a run as failed; whoever works on it hears of it at once, and is refused at its next checkpoint in any case. */
export async function cancelRun(database: Database, key: RunKey): Promise<void> {
  await database.transaction(async (tx) => {
    if (!(await findRun(tx, key))) throw noSuchRun(key.runId);
    const ended = await endOpenRun(tx, key, CANCELLED);
    if (!ended) throw new AppError('CONFLICT', 'The run has ended.');
    const { developerId, workflowId, runId } = key;
    const data = { workflowId, workflowName: ended.workflowName, runId, error: CANCELLED };
    await publishEvents(tx, [{ developerId, type: 'workflow.failed', data, depth: ended.depth + 1 }]);
    await notifyRuns(tx, runId);
  });
}

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
