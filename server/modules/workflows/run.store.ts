import type { StepResult } from '../../../contract/routes/workflows.ts';
import { prepared, storableJson, type Queryable, type Transaction } from '../../platform/db/index.ts';
import type { Definition } from './engine/next-nodes.ts';
import { RUNS_CHANNEL } from './notify-runs.ts';
import { stepResult, type SettledStep } from './step-result.ts';

/** Seconds for which a run belongs to the process that works on it, unless that renews it. */
export const LEASE_SECONDS = 20;

export interface RunRow {
  developerId: string;
  id: string;
  workflowId: string;
  status: 'pending' | 'running' | 'completed' | 'failed';
  triggeredBy: 'api' | 'cron' | 'event';
  triggerData: Record<string, unknown>;
  error: string | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
}

/** A run to begin. */
export interface NewRun {
  developerId: string;
  id: string;
  workflowId: string;
  workflowName: string;
  triggeredBy: RunRow['triggeredBy'];
  triggerData: unknown;
  definition: Definition;
  depth: number;
  /** The process that works on it at once; null when whoever finds it does. */
  leaseOwner: string | null;
}

const COLUMNS = `developer_id as "developerId", id, workflow_id as "workflowId", status, triggered_by as "triggeredBy",
  trigger_data as "triggerData", error, created_at as "createdAt", started_at as "startedAt",
  completed_at as "completedAt"`;

// One that has an owner begins as soon as this has committed.
const INSERT = `insert into workflow_runs (developer_id, id, workflow_id, workflow_name, triggered_by,
    trigger_data, definition, depth, lease_owner, lease_until, status, started_at)
  select "developerId", r.id, "workflowId", "workflowName", "triggeredBy", "triggerData", definition, depth,
    "leaseOwner", now() + case when "leaseOwner" is null then 0 else ${LEASE_SECONDS} end * interval '1 second',
    case when "leaseOwner" is null then 'pending' else 'running' end, case when "leaseOwner" is not null then now() end
  from json_to_recordset($1) as r ("developerId" text, id text, "workflowId" text, "workflowName" text,
    "triggeredBy" text, "triggerData" jsonb, definition jsonb, depth smallint, "leaseOwner" text)
  join workflows w on w.developer_id = "developerId" and w.id = "workflowId"
  on conflict do nothing
  returning workflow_runs.id`;
const insert = prepared(INSERT);
// By itself a statement is a transaction, in one round trip instead of four.
const insertAndNotify = prepared(
  `with written as (${INSERT}) select id, pg_notify('${RUNS_CHANNEL}', '') from written`,
);

/** Writes runs of workflows that still exist; gives the ids. Writing them twice changes nothing, and gives none. */
export async function insertRuns(db: Queryable, runs: readonly NewRun[]): Promise<Set<string>> {
  return new Set((await db.query<{ id: string }>(insert([storableJson(runs)]))).rows.map(({ id }) => id));
}

/** The same, and tells processes that run workflows that runs wait. */
export async function insertWaitingRuns(db: Queryable, runs: readonly NewRun[]): Promise<Set<string>> {
  return new Set((await db.query<{ id: string }>(insertAndNotify([storableJson(runs)]))).rows.map(({ id }) => id));
}

const selectRun = prepared(
  `select ${COLUMNS} from workflow_runs where developer_id = $1 and workflow_id = $2 and id = $3`,
);

export interface RunKey {
  developerId: string;
  workflowId: string;
  runId: string;
}

export async function findRun(db: Queryable, { developerId, workflowId, runId }: RunKey): Promise<RunRow | undefined> {
  return (await db.query<RunRow>(selectRun([developerId, workflowId, runId]))).rows[0];
}

export interface RunFilter {
  before: string | null;
  status: string | null;
  limit: number;
}

/** Runs of a workflow with ids before `before`, newest first. */
export async function listRunRows(
  db: Queryable,
  { developerId, workflowId }: Omit<RunKey, 'runId'>,
  { before, status, limit }: RunFilter,
): Promise<RunRow[]> {
  const { rows } = await db.query<RunRow>({
    text: `select ${COLUMNS} from workflow_runs
      where developer_id = $1 and workflow_id = $2 and ($3::text is null or id < $3) and ($4::text is null or status = $4)
      order by id desc limit $5`,
    values: [developerId, workflowId, before, status, limit],
  });
  return rows;
}

const selectSizes = prepared(`select run_id as "runId", sum(size)::float8 as size
  from workflow_steps where developer_id = $1 and run_id = any($2) group by run_id`);

/** Characters of JSON of the results of each run, by its id. */
export async function readSizes(
  db: Queryable,
  developerId: string,
  runIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ runId: string; size: number }>(selectSizes([developerId, runIds]));
  return new Map(rows.map(({ runId, size }) => [runId, size]));
}

const selectSteps = prepared(`select run_id as "runId", node_id as "nodeId", status, result, error,
    started_at as "startedAt", completed_at as "completedAt"
  from workflow_steps where developer_id = $1 and run_id = any($2) and status <> 'retrying'
  order by run_id, seq`);

/** The settled steps of runs, in the order in which they were settled, by run. */
export async function findSteps(
  db: Queryable,
  developerId: string,
  runIds: readonly string[],
): Promise<Map<string, StepResult[]>> {
  const { rows } = await db.query<SettledStep & { runId: string }>(selectSteps([developerId, runIds]));
  const byRun = Map.groupBy(rows, ({ runId }) => runId);
  return new Map([...byRun].map(([runId, steps]) => [runId, steps.map(stepResult)]));
}

/** Ends a run that has not ended; gives what its event needs, or undefined when there is no such open run. */
export async function endOpenRun(
  tx: Transaction,
  { developerId, workflowId, runId }: RunKey,
  error: string,
): Promise<{ workflowName: string; depth: number } | undefined> {
  const { rows } = await tx.query<{ workflowName: string; depth: number }>({
    text: `update workflow_runs
      set status = 'failed', error = $4, completed_at = now(), started_at = coalesce(started_at, now()), lease_owner = null
      where developer_id = $1 and workflow_id = $2 and id = $3 and status not in ('completed', 'failed')
      returning workflow_name as "workflowName", depth`,
    values: [developerId, workflowId, runId, error],
  });
  return rows[0];
}

/** Begins a new run of what a failed run began with, with the steps that succeeded. Whether there was such a run. */
export async function copyFailedRun(tx: Transaction, key: RunKey, newId: string): Promise<boolean> {
  const { developerId, workflowId, runId } = key;
  const { rowCount } = await tx.query({
    text: `insert into workflow_runs (developer_id, id, workflow_id, workflow_name, triggered_by, trigger_data,
        definition, depth)
      select developer_id, $4, workflow_id, workflow_name, triggered_by, trigger_data, definition, depth
      from workflow_runs where developer_id = $1 and workflow_id = $2 and id = $3 and status = 'failed'`,
    values: [developerId, workflowId, runId, newId],
  });
  if (rowCount === 0) return false;
  await tx.query({
    text: `insert into workflow_steps (developer_id, run_id, node_id, status, attempts, result, size, error, started_at,
        completed_at)
      select developer_id, $3, node_id, status, attempts, result, size, error, started_at, completed_at
      from workflow_steps where developer_id = $1 and run_id = $2 and status = 'success' order by seq`,
    values: [developerId, runId, newId],
  });
  return true;
}
