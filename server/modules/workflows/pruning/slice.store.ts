import { prepared, type Database, type Queryable, type Transaction } from '../../../platform/db/index.ts';
import { timeOfId } from '../../../platform/ids/index.ts';
import { firstRunId, missingSlices, sliceOf, sliceSuffix, type Slice } from './slice.ts';

/** Nobody waits long behind one who waits for a table. */
const LOCK_TIMEOUT = `set local lock_timeout = '300ms'`;

/** About what a row holds, with its share of the indexes. */
const RUN_BYTES = 'pg_column_size(trigger_data) + pg_column_size(definition) + 500';
const STEP_BYTES = 'coalesce(pg_column_size(result), 0) + 300';

/** The tables behind the slices: what their names end in, oldest first. */
const selectSlices = prepared(`select substr(c.relname, length('workflow_runs_') + 1) as suffix
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'workflow_runs'::regclass order by c.relname`);

export async function readSlices(db: Queryable): Promise<Slice[]> {
  const { rows } = await db.query<{ suffix: string }>(selectSlices());
  return rows.flatMap(({ suffix }) => sliceOf(suffix) ?? []);
}

const selectNewest = prepared(`select greatest(
  (select max(id) from workflow_runs_rest), (select max(run_id) from workflow_steps_rest)) as id`);

async function makeSlice(tx: Transaction, slice: Slice): Promise<void> {
  const suffix = sliceSuffix(slice);
  const range = `for values from ('${firstRunId(slice.fromMs)}') to ('${firstRunId(slice.toMs)}')`;
  await tx.query({ text: `create table workflow_runs_${suffix} partition of workflow_runs ${range}` });
  await tx.query({ text: `create table workflow_steps_${suffix} partition of workflow_steps ${range}` });
}

/** Makes the slices that will be needed. Processes may do this at the same time. */
export function ensureSlices(database: Database, at: { nowMs: number; historyDays: number }): Promise<void> {
  return database.transaction(async (tx) => {
    await tx.query({ text: `select pg_advisory_xact_lock(hashtext('workflow_slices'))` });
    const existing = await readSlices(tx);
    if (missingSlices(existing, { ...at, freeFromMs: 0 }).length === 0) return;
    await tx.query({ text: LOCK_TIMEOUT });
    // Nothing may come to lie in `rest` where a slice is about to be.
    await tx.query({ text: 'lock table workflow_runs_rest, workflow_steps_rest in share mode' });
    const newest = (await tx.query<{ id: string | null }>(selectNewest())).rows[0]?.id ?? undefined;
    const freeFromMs = newest === undefined ? 0 : timeOfId(newest) + 1;
    for (const slice of missingSlices(existing, { ...at, freeFromMs })) await makeSlice(tx, slice);
  });
}

/** Bytes of the files of all runs and steps, with their indexes. */
export async function readHistoryBytes(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>({
    text: `select sum(pg_total_relation_size(inhrelid))::float8 as bytes from pg_inherits
      where inhparent in ('workflow_runs'::regclass, 'workflow_steps'::regclass)`,
  });
  return rows[0]?.bytes ?? 0;
}

/** Removes the tables of a slice. False when a run of it is still open. Throws when somebody reads it all the time. */
export async function dropSlice(tx: Transaction, slice: Slice): Promise<boolean> {
  const suffix = sliceSuffix(slice);
  await tx.query({ text: LOCK_TIMEOUT });
  // In the order in which statements of the engine come to them.
  await tx.query({ text: 'lock table workflow_runs, workflow_steps in access exclusive mode' });
  const { rowCount } = await tx.query({
    text: `select from workflow_runs_${suffix} where status in ('pending', 'running') limit 1`,
  });
  if (rowCount > 0) return false;
  await tx.query({ text: `drop table workflow_steps_${suffix}, workflow_runs_${suffix}` });
  return true;
}

/** What a delete took. */
interface Deleted {
  runs: number;
  bytes: number;
}

/** Deletes the oldest runs that have ended, with their steps, of tables whose names end so; only ids before `beforeId`. */
export async function deleteOldest(
  database: Database,
  suffix: string,
  { beforeId, limit }: { beforeId: string; limit: number },
): Promise<Deleted> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ developerId: string; id: string; bytes: number }>({
      text: `with old as (
          select developer_id, id from workflow_runs_${suffix}
          where status in ('completed', 'failed') and id < $1 order by id limit $2 for update skip locked)
        delete from workflow_runs_${suffix} r using old where r.developer_id = old.developer_id and r.id = old.id
        returning r.developer_id as "developerId", r.id, ${RUN_BYTES} as bytes`,
      values: [beforeId, limit],
    });
    const steps = await tx.query<{ bytes: number }>({
      text: `with gone as (
          delete from workflow_steps_${suffix} s using unnest($1::text[], $2::text[]) as o (developer_id, run_id)
          where s.developer_id = o.developer_id and s.run_id = o.run_id returning ${STEP_BYTES} as bytes)
        select coalesce(sum(bytes), 0)::float8 as bytes from gone`,
      values: [rows.map(({ developerId }) => developerId), rows.map(({ id }) => id)],
    });
    const ofRuns = rows.reduce((sum, { bytes }) => sum + bytes, 0);
    return { runs: rows.length, bytes: ofRuns + (steps.rows[0]?.bytes ?? 0) };
  });
}

/** Bytes that the rows of such tables hold; what was deleted does not count. */
export async function readLiveBytes(db: Queryable, suffix: string): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>({
    text: `select (
        (select coalesce(sum(${RUN_BYTES}), 0) from workflow_runs_${suffix})
        + (select coalesce(sum(${STEP_BYTES}), 0) from workflow_steps_${suffix})
      )::float8 as bytes`,
  });
  return rows[0]?.bytes ?? 0;
}
