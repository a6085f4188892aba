import type { Transaction } from '../../platform/db/index.ts';

/** Notified, empty, when runs wait; with the id of a run when it was cancelled. */
export const RUNS_CHANNEL = 'workflow_runs';

/** Tells processes that run workflows, when the transaction commits, that runs wait, or that one was cancelled. */
export async function notifyRuns(tx: Transaction, cancelledRunId = ''): Promise<void> {
  await tx.query({ text: 'select pg_notify($1, $2)', values: [RUNS_CHANNEL, cancelledRunId] });
}
