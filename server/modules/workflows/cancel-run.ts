import type { Database } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { publishEvents } from '../../platform/outbox/index.ts';
import { noSuchRun } from './no-such-workflow.ts';
import { notifyRuns } from './notify-runs.ts';
import { endOpenRun, findRun, type RunKey } from './run.store.ts';

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
