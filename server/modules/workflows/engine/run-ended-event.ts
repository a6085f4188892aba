import type { StepResult } from '../../../../contract/routes/workflows.ts';
import type { NewEvent } from '../../../platform/outbox/index.ts';
import { stepResult } from '../step-result.ts';
import type { ClaimedRun, SettledRecord } from './checkpoint.store.ts';

/** A longer result is told of, and not repeated. */
const MAX_RESULT_LENGTH = 64 * 1024;
const MAX_RESULTS_LENGTH = 1024 * 1024;

function resultFor(result: unknown, room: number): unknown {
  const { length } = JSON.stringify(result ?? null);
  return length <= Math.min(MAX_RESULT_LENGTH, room) ? result : `[left out: ${length} characters]`;
}

function stepResults(steps: readonly SettledRecord[]): StepResult[] {
  let room = MAX_RESULTS_LENGTH;
  return steps.map((step) => {
    const result = resultFor(step.result, room);
    room -= JSON.stringify(result ?? null).length;
    return stepResult({ ...step, result });
  });
}

/** `workflow.completed`, or `workflow.failed` when there is an error. */
export function runEndedEvent(run: ClaimedRun, records: readonly SettledRecord[], error: string | null): NewEvent {
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
