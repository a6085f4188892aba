import type { NewEvent } from '../../../platform/outbox/index.ts';
import type { ClaimedRun, StepRecord } from './checkpoint.store.ts';

/** A longer result is told of, and not repeated. */
const MAX_RESULT_LENGTH = 64 * 1024;
const MAX_RESULTS_LENGTH = 1024 * 1024;

function resultFor(result: unknown, room: number): unknown {
  const { length } = JSON.stringify(result ?? null);
  return length <= Math.min(MAX_RESULT_LENGTH, room) ? result : `[left out: ${length} characters]`;
}

function stepResults(records: readonly StepRecord[]): object[] {
  let room = MAX_RESULTS_LENGTH;
  return records.map(({ nodeId, status, result, error, startedAt, completedAt }) => {
    const shown = resultFor(result, room);
    room -= JSON.stringify(shown ?? null).length;
    const times = { startedAt: new Date(startedAt).toISOString(), completedAt: new Date(completedAt).toISOString() };
    return {
      nodeId,
      status,
      ...(status !== 'skipped' && { result: shown }),
      ...(error !== null && { error }),
      ...times,
    };
  });
}

/** `workflow.completed`, or `workflow.failed` when there is an error. */
export function runEndedEvent(run: ClaimedRun, records: readonly StepRecord[], error: string | null): NewEvent {
  const { developerId, workflowId, workflowName, id: runId, depth } = run;
  const about = { workflowId, workflowName, runId };
  return error === null
    ? {
        developerId,
        type: 'workflow.completed',
        data: { ...about, status: 'completed', stepResults: stepResults(records) },
        depth: depth + 1,
      }
    : { developerId, type: 'workflow.failed', data: { ...about, error }, depth: depth + 1 };
}
