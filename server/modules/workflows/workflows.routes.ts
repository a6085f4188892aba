import * as contract from '../../../contract/routes/workflows.ts';
import { implement, type Route } from '../../platform/http/index.ts';
import { cancelRun } from './cancel-run.ts';
import { configProblems } from './check-config.ts';
import { structureProblems } from './check-structure.ts';
import { newRun } from './new-run.ts';
import { noSuchWorkflow } from './no-such-workflow.ts';
import { listRuns, readRun } from './read-runs.ts';
import { retryRun } from './retry-run.ts';
import { wireHead, wireWorkflow } from './workflow-wire.ts';
import { findWorkflow, listWorkflowRows, removeWorkflow, type WorkflowRow } from './workflow.store.ts';
import type { Workflows } from './workflows.ts';
import { createWorkflow, structureOf, updateWorkflow } from './write-workflow.ts';

const QUEUED = { status: 'pending' as const, message: 'The run is queued.' };

async function demandWorkflow({ database }: Workflows, developerId: string, id: string): Promise<WorkflowRow> {
  const row = await findWorkflow(database, developerId, id);
  if (!row) throw noSuchWorkflow(id);
  return row;
}

async function listWorkflows(
  { database }: Workflows,
  developerId: string,
  { limit, cursor = null }: { limit?: number; cursor?: string | null },
) {
  const page = { before: cursor, limit: limit === undefined ? null : limit + 1 };
  const { rows, total } = await listWorkflowRows(database, developerId, page);
  const shown = limit === undefined ? rows : rows.slice(0, limit);
  const last = shown.length < rows.length ? shown.at(-1) : undefined;
  return { workflows: shown.map(wireHead), total, ...(last && { nextCursor: last.id }) };
}

function definitionRoutes(workflows: Workflows): Route[] {
  const { database } = workflows;
  return [
    implement(contract.createWorkflow, async ({ caller }, { body }) =>
      wireWorkflow(await createWorkflow(database, caller.developerId, body)),
    ),
    implement(contract.validateWorkflow, async ({ caller }, { body }) => {
      const structure = structureOf(body);
      const config = await configProblems(structure, workflows.nodeChecks, caller);
      const problems = [...structureProblems(structure), ...config.problems];
      return { valid: problems.length === 0, problems, warnings: config.warnings };
    }),
    implement(contract.listWorkflows, ({ caller }, { query }) => listWorkflows(workflows, caller.developerId, query)),
    implement(contract.getWorkflow, async ({ caller }, { params }) =>
      wireWorkflow(await demandWorkflow(workflows, caller.developerId, params.id)),
    ),
    implement(contract.updateWorkflow, async ({ caller: { developerId } }, { params, body }) =>
      wireWorkflow(await updateWorkflow(database, { developerId, id: params.id }, body)),
    ),
    implement(contract.deleteWorkflow, async ({ caller }, { params }) => {
      const wasThere = await database.transaction((tx) => removeWorkflow(tx, caller.developerId, params.id));
      if (!wasThere) throw noSuchWorkflow(params.id);
      return { success: true as const };
    }),
  ];
}

function runRoutes(workflows: Workflows): Route[] {
  const { database, starter } = workflows;
  return [
    implement(contract.runWorkflow, async ({ caller: { developerId } }, { params, body }) => {
      const workflow = await demandWorkflow(workflows, developerId, params.id);
      const run = newRun(workflow, { triggeredBy: 'api', triggerData: body.data ?? {}, depth: 0 });
      await starter.start(run);
      return { runId: run.id, ...QUEUED };
    }),
    implement(contract.listRuns, ({ caller: { developerId } }, { params, query }) =>
      listRuns(database, { developerId, workflowId: params.id }, query),
    ),
    implement(contract.getRun, ({ caller: { developerId } }, { params }) =>
      readRun(database, { developerId, workflowId: params.id, runId: params.runId }),
    ),
    implement(contract.cancelRun, async ({ caller: { developerId } }, { params }) => {
      const key = { developerId, workflowId: params.id, runId: params.runId };
      await cancelRun(database, key);
      return readRun(database, key);
    }),
    implement(contract.retryRun, async ({ caller: { developerId } }, { params }) => {
      const runId = await retryRun(database, { developerId, workflowId: params.id, runId: params.runId });
      return { runId, ...QUEUED };
    }),
  ];
}

export function workflowRoutes(workflows: Workflows): Route[] {
  return [...definitionRoutes(workflows), ...runRoutes(workflows)];
}
