import type { Run, StepResult, Workflow } from '../../../contract/routes/workflows.ts';
import type { RunRow } from './run.store.ts';
import type { WorkflowHead, WorkflowRow } from './workflow.store.ts';

export function wireHead({ id, name, description, trigger, enabled, source, updatedAt }: WorkflowHead) {
  return { _id: id, name, description, trigger, enabled, source, updatedAt: updatedAt.toISOString() };
}

export function wireWorkflow(row: WorkflowRow): Workflow {
  const { id, developerId: userId, nodes, edges, createdAt } = row;
  return { ...wireHead(row), id, userId, nodes, edges, createdAt: createdAt.toISOString() };
}

export function wireRun(row: RunRow, stepResults: StepResult[]): Run {
  const { id, workflowId, status, triggeredBy, triggerData, error, createdAt, startedAt, completedAt } = row;
  return {
    _id: id,
    workflowId,
    status,
    triggeredBy,
    triggerData,
    stepResults,
    ...(error !== null && { error }),
    createdAt: createdAt.toISOString(),
    ...(startedAt && { startedAt: startedAt.toISOString() }),
    ...(completedAt && { completedAt: completedAt.toISOString() }),
  };
}
