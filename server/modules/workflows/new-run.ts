import { createId } from '../../platform/ids/index.ts';
import type { NewRun } from './run.store.ts';
import type { WorkflowRow } from './workflow.store.ts';

/** Why a run begins. */
type Cause = Pick<NewRun, 'triggeredBy' | 'triggerData' | 'depth'>;

/** A run of a workflow as it is now, for whoever finds it. */
export function newRun(workflow: WorkflowRow, cause: Cause): NewRun {
  const { developerId, id: workflowId, name: workflowName, nodes, edges } = workflow;
  return {
    developerId,
    id: createId('run'),
    workflowId,
    workflowName,
    ...cause,
    definition: { nodes, edges },
    leaseOwner: null,
  };
}
