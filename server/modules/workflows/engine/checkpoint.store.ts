import { prepared, storableJson, type Queryable } from '../../../platform/db/index.ts';
import { LEASE_SECONDS } from '../run.store.ts';
import type { Definition } from './next-nodes.ts';

/** A run that this process works on. */
export interface ClaimedRun {
  developerId: string;
  id: string;
  workflowId: string;
  workflowName: string;
  triggerData: unknown;
  definition: Definition;
  depth: number;
  /** How long ago its work began, when it began before. */
  ageMs?: number;
  /** How long it waited to be taken on, when it did. */
  waitedMs?: number;
}

/** A settled step, or one of which an attempt failed and another follows. */
export interface StepRecord {
  developerId: string;
  runId: string;
  nodeId: string;
  status: 'success' | 'failed' | 'skipped' | 'retrying';
  attempts: number;
  result: unknown;
  /** Characters of the result as JSON. */
  size: number;
  error: string | null;
  /** ISO 8601. */
  startedAt: string;
  completedAt: string;
}

/** One that is settled. */
export type SettledRecord = StepRecord & { status: Exclude<StepRecord['status'], 'retrying'> };

export function isSettled(record: StepRecord): record is SettledRecord {
  return record.status !== 'retrying';
}

const OPEN = `status in ('pending', 'running')`;
/** The same in words that lead the planner to runs by their id, and never through all open ones of a developer. */
const NOT_ENDED = `status not in ('completed', 'failed')`;

// Who has open runs is found by leaping from developer to developer along the index; then each one's turn comes in rounds.
const claim = prepared(`with recursive holders (developer_id) as (
    (select developer_id from workflow_runs where ${OPEN} order by developer_id limit 1)
    union all
    select (select r.developer_id from workflow_runs r
      where ${OPEN} and r.developer_id > h.developer_id order by r.developer_id limit 1)
    from holders h where h.developer_id is not null
  ),
  offered as materialized (
    select c.developer_id, c.id, c.lease_until, row_number() over (partition by c.developer_id order by c.lease_until) as round
    from holders h
    left join unnest($3::text[], $4::int[]) as l (developer_id, most) on l.developer_id = h.developer_id
    cross join lateral (
      select r.developer_id, r.id, r.lease_until from workflow_runs r
      where r.developer_id = h.developer_id and ${OPEN} and r.lease_until <= now() and r.id <> all ($2::text[])
      order by r.lease_until limit least(coalesce(l.most, $5::int), $6)
      for no key update skip locked
    ) c
  ),
  chosen as materialized (select developer_id, id, lease_until from offered order by round limit $6)
  update workflow_runs r
  set status = 'running', started_at = coalesce(started_at, now()), lease_owner = $1,
    lease_until = now() + interval '${LEASE_SECONDS} seconds'
  from chosen c
  where r.developer_id = c.developer_id and r.id = c.id
  returning r.developer_id as "developerId", r.id, workflow_id as "workflowId", workflow_name as "workflowName",
    trigger_data as "triggerData", definition, depth,
    (extract(epoch from now() - started_at) * 1000)::float8 as "ageMs",
    (extract(epoch from now() - c.lease_until) * 1000)::float8 as "waitedMs"`);

/** What a process asks for. */
export interface ClaimOptions {
  owner: string;
  /** Runs that it has under way: should their lease be over, they are not begun beside themselves. */
  active: readonly string[];
  /** How many runs at most of developers who have some under way, and of any other one. */
  allowances: ReadonlyMap<string, number>;
  allowance: number;
  limit: number;
}

/** Takes on runs that wait, and those whose process has vanished: of each developer the ones that have waited longest. */
export async function claimRuns(
  db: Queryable,
  { owner, active, allowances, allowance, limit }: ClaimOptions,
): Promise<ClaimedRun[]> {
  const values = [owner, active, [...allowances.keys()], [...allowances.values()], allowance, limit];
  return (await db.query<ClaimedRun>(claim(values))).rows;
}

const selectRecords = prepared(`select developer_id as "developerId", run_id as "runId", node_id as "nodeId", status,
    attempts, result, size, error, started_at as "startedAt", completed_at as "completedAt"
  from workflow_steps s join unnest($1::text[], $2::text[]) as r (owner, id) on s.developer_id = r.owner and s.run_id = r.id
  order by seq`);

/** The checkpoints of runs that may have been begun before, by the id of the run. */
export async function readRecords(db: Queryable, runs: readonly ClaimedRun[]): Promise<Map<string, StepRecord[]>> {
  const values = [runs.map(({ developerId }) => developerId), runs.map(({ id }) => id)];
  return Map.groupBy((await db.query<StepRecord>(selectRecords(values))).rows, ({ runId }) => runId);
}

/** How a run ended. */
export interface RunEnd {
  developerId: string;
  runId: string;
  status: 'completed' | 'failed';
  error: string | null;
}

// One statement, and so one round trip: where nothing else is to be written it is a transaction by itself.
const save = prepared(`with owned as materialized (
    select r.developer_id, r.id from workflow_runs r
    join unnest($2::text[], $3::text[]) as o (developer_id, id) on r.developer_id = o.developer_id and r.id = o.id
    where r.lease_owner = $1 and r.${NOT_ENDED}
    order by r.developer_id, r.id
    for no key update of r
  ),
  ends as materialized (
    select * from json_to_recordset($5) as e ("developerId" text, "runId" text, ending text, reason text)
  ),
  turned as (
    update workflow_runs r
    set status = coalesce(e.ending, 'running'), error = e.reason, started_at = coalesce(started_at, now()),
      completed_at = case when e.ending is not null then now() end,
      lease_owner = case when e.ending is null then lease_owner end
    from owned o left join ends e on e."developerId" = o.developer_id and e."runId" = o.id
    where r.developer_id = o.developer_id and r.id = o.id and (e.ending is not null or r.status = 'pending')
  ),
  kept as (
    insert into workflow_steps (developer_id, run_id, node_id, status, attempts, result, size, error, started_at,
      completed_at)
    select "developerId", "runId", "nodeId", status, attempts, result, size, error, "startedAt", "completedAt"
    from json_to_recordset($4) as s ("developerId" text, "runId" text, "nodeId" text, status text, attempts smallint,
      result jsonb, size integer, error text, "startedAt" timestamptz, "completedAt" timestamptz)
    join owned o on o.developer_id = "developerId" and o.id = "runId"
    on conflict (developer_id, run_id, node_id) do update
    set status = excluded.status, attempts = excluded.attempts, result = excluded.result, size = excluded.size,
      error = excluded.error, started_at = excluded.started_at, completed_at = excluded.completed_at, seq = default
    where workflow_steps.status = 'retrying'
  )
  select id from owned`);

/** What to write of some runs. */
export interface Checkpoints {
  runs: readonly ClaimedRun[];
  /** At most one of a step; one that is settled already stays as it is. */
  records: readonly StepRecord[];
  ends: readonly RunEnd[];
}

/**
 * Writes down what became of runs, as far as they still belong to this process and are open: gives the ids of those, and
 * writes nothing of the others.
 */
export async function saveCheckpoints(
  db: Queryable,
  owner: string,
  { runs, records, ends }: Checkpoints,
): Promise<Set<string>> {
  const endings = ends.map(({ status, error, ...about }) => ({ ...about, ending: status, reason: error }));
  const ids = [runs.map(({ developerId }) => developerId), runs.map(({ id }) => id)];
  const values = [owner, ...ids, storableJson(records), storableJson(endings)];
  return new Set((await db.query<{ id: string }>(save(values))).rows.map(({ id }) => id));
}

const renew = prepared(`update workflow_runs r set lease_until = now() + interval '${LEASE_SECONDS} seconds'
  from unnest($2::text[], $3::text[]) as o (developer_id, id)
  where r.developer_id = o.developer_id and r.id = o.id and lease_owner = $1 and ${NOT_ENDED}
  returning r.id`);

/** Keeps runs for longer; gives those that still belong to this process. */
export async function renewLeases(db: Queryable, owner: string, runs: readonly ClaimedRun[]): Promise<Set<string>> {
  const values = [owner, runs.map(({ developerId }) => developerId), runs.map(({ id }) => id)];
  return new Set((await db.query<{ id: string }>(renew(values))).rows.map(({ id }) => id));
}

const release = prepared(`update workflow_runs r set lease_until = now(), lease_owner = null
  from unnest($2::text[], $3::text[]) as o (developer_id, id)
  where r.developer_id = o.developer_id and r.id = o.id and lease_owner = $1 and ${NOT_ENDED}`);

/** Gives runs back, to go on elsewhere at once. */
export async function releaseRuns(db: Queryable, owner: string, runs: readonly ClaimedRun[]): Promise<void> {
  await db.query(release([owner, runs.map(({ developerId }) => developerId), runs.map(({ id }) => id)]));
}
