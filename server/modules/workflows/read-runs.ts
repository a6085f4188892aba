import type { listRuns as contract, Run } from '../../../contract/routes/workflows.ts';
import type { RouteInput, RouteOutput } from '../../../contract/shared/route.ts';
import type { Database } from '../../platform/db/index.ts';
import { noSuchRun, noSuchWorkflow } from './no-such-workflow.ts';
import { findRun, findSteps, listRunRows, readSizes, type RunKey, type RunRow } from './run.store.ts';
import { wireRun } from './workflow-wire.ts';
import { findWorkflow } from './workflow.store.ts';

const DEFAULT_LIMIT = 20;
/** Results on one page, in characters of JSON: a page ends early rather than hold more. Its first run is always there. */
const MAX_PAGE_LENGTH = 16 * 1024 * 1024;

/** A run with its steps. Throws NOT_FOUND. */
export async function readRun(database: Database, key: RunKey): Promise<Run> {
  const row = await findRun(database, key);
  if (!row) throw noSuchRun(key.runId);
  const steps = await findSteps(database, key.developerId, [key.runId]);
  return wireRun(row, steps.get(key.runId) ?? []);
}

/** The first of the runs, as many as one answer can hold. */
async function fitting(database: Database, rows: readonly RunRow[]): Promise<RunRow[]> {
  const [first] = rows;
  if (!first) return [];
  const sizes = await readSizes(
    database,
    first.developerId,
    rows.map(({ id }) => id),
  );
  let length = 0;
  return rows.filter(({ id }, index) => (length += sizes.get(id) ?? 0) <= MAX_PAGE_LENGTH || index === 0);
}

/** A page of runs, newest first; the cursor is the id of the last one. Throws NOT_FOUND without such a workflow. */
export async function listRuns(
  database: Database,
  { developerId, workflowId }: Omit<RunKey, 'runId'>,
  { limit = DEFAULT_LIMIT, cursor, status }: RouteInput<typeof contract>['query'],
): Promise<RouteOutput<typeof contract>> {
  const workflow = await findWorkflow(database, developerId, workflowId);
  if (!workflow) throw noSuchWorkflow(workflowId);
  const filter = { before: cursor ?? null, status: status ?? null, limit: limit + 1 };
  const rows = await listRunRows(database, { developerId, workflowId }, filter);
  const page = await fitting(database, rows.slice(0, limit));
  const steps = await findSteps(
    database,
    developerId,
    page.map(({ id }) => id),
  );
  const last = rows.length > page.length ? page.at(-1) : undefined;
  return {
    runs: page.map((row) => wireRun(row, steps.get(row.id) ?? [])),
    ...(last && { nextCursor: last.id }),
  };
}
