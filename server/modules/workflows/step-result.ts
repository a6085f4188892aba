import type { StepResult } from '../../../contract/routes/workflows.ts';

/** What is known of a step that is settled. */
export interface SettledStep {
  nodeId: string;
  status: StepResult['status'];
  result: unknown;
  error: string | null;
  /** As the database or as a step that has just ended gives them. */
  startedAt: Date | string;
  completedAt: Date | string;
}

/** What is told of such a step: by the API, and by the event that ends its run. */
export function stepResult({ nodeId, status, result, error, startedAt, completedAt }: SettledStep): StepResult {
  return {
    nodeId,
    status,
    ...(status !== 'skipped' && { result }),
    ...(error !== null && { error }),
    startedAt: new Date(startedAt).toISOString(),
    completedAt: new Date(completedAt).toISOString(),
  };
}
