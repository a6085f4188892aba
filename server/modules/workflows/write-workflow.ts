import type {
  createWorkflow as createContract,
  updateWorkflow as updateContract,
} from '../../../contract/routes/workflows.ts';
import type { RouteInput } from '../../../contract/shared/route.ts';
import { systemClock } from '../../platform/clock/index.ts';
import type { Database } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { structureProblems, type Structure } from './check-structure.ts';
import { firstTick } from './cron-clock.ts';
import { noSuchWorkflow } from './no-such-workflow.ts';
import { insertWorkflow, lockWorkflow, saveWorkflow, type WorkflowRow } from './workflow.store.ts';

type CreateBody = RouteInput<typeof createContract>['body'];
type UpdateBody = RouteInput<typeof updateContract>['body'];

/** What a body says of the structure, with what it leaves out. */
export function structureOf({ trigger = { type: 'manual' }, nodes = [], edges = [] }: Partial<Structure>): Structure {
  return { trigger, nodes, edges };
}

/** Throws INVALID_REQUEST for a structure that cannot be run; the message names every place. */
function demandStructure(structure: Structure): void {
  const problems = structureProblems(structure);
  if (problems.length === 0) return;
  const shown = problems.slice(0, 5).map(({ path, message }) => `${path}: ${message}`);
  if (problems.length > shown.length) shown.push(`(${problems.length - shown.length} more)`);
  throw new AppError('INVALID_REQUEST', shown.join(' '));
}

export async function createWorkflow(database: Database, developerId: string, body: CreateBody): Promise<WorkflowRow> {
  const structure = structureOf(body);
  demandStructure(structure);
  return database.transaction((tx) =>
    insertWorkflow(tx, {
      developerId,
      id: createId('wf'),
      name: body.name,
      description: body.description ?? '',
      trigger: structure.trigger,
      nodes: [...structure.nodes],
      edges: [...structure.edges],
      enabled: true,
      nextTick: firstTick(structure.trigger, true, systemClock.nowMs()),
    }),
  );
}

/** What becomes of a workflow. Its next tick stays unless the schedule, or whether it runs, changes. */
function changed(row: WorkflowRow, change: UpdateBody): WorkflowRow {
  const next = {
    ...row,
    name: change.name ?? row.name,
    description: change.description ?? row.description,
    trigger: change.trigger ?? row.trigger,
    nodes: change.nodes ?? row.nodes,
    edges: change.edges ?? row.edges,
    enabled: change.enabled ?? row.enabled,
  };
  if (change.trigger === undefined && next.enabled === row.enabled) return next;
  return { ...next, nextTick: firstTick(next.trigger, next.enabled, systemClock.nowMs()) };
}

/** Changes what is given and leaves the rest. */
export async function updateWorkflow(
  database: Database,
  key: { developerId: string; id: string },
  change: UpdateBody,
): Promise<WorkflowRow> {
  return database.transaction(async (tx) => {
    const row = await lockWorkflow(tx, key.developerId, key.id);
    if (!row) throw noSuchWorkflow(key.id);
    const next = changed(row, change);
    demandStructure(next);
    return saveWorkflow(tx, next);
  });
}
