import { prepared, type Database, type Queryable, type Transaction } from '../../../platform/db/index.ts';
import { timeOfId } from '../../../platform/ids/index.ts';
import { firstRunId, missingSlices, sliceOf, sliceSuffix, type Slice } from './slice.ts';

/** Nobody waits long behind one who waits for a table. */
const LOCK_TIMEOUT = `set local lock_timeout = '300ms'`;

/** About what a row holds, with its share of the indexes. */
const RUN_BYTES = 'pg_column_size(trigger_data) + pg_column_size(definition) + 600';
const STEP_BYTES = 'coalesce(pg_column_size(result), 0) + 300';

/** The tables behind the slices: what their names end in, oldest first. */
const selectSlices = prepared(`select substr(c.relname, length('workflow_steps_') + 1) as suffix
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'workflow_steps'::regclass order by c.relname`);

export async function readSlices(db: Queryable): Promise<Slice[]> {
  const { rows } = await db.query<{ suffix: string }>(selectSlices());
  return rows.flatMap(({ suffix }) => sliceOf(suffix) ?? []);
}

const selectNewest = prepared('select max(run_id) as id from workflow_steps_rest');

async function makeSlice(tx: Transaction, slice: Slice): Promise<void> {
  const range = `for values from ('${firstRunId(slice.fromMs)}') to ('${firstRunId(slice.toMs)}')`;
  await tx.query({ text: `create table workflow_steps_${sliceSuffix(slice)} partition of workflow_steps ${range}` });
}

/** Makes the slices that will be needed. Processes may do this at the same time. */
export function ensureSlices(database: Database, at: { nowMs: number; historyDays: number }): Promise<void> {
  return database.transaction(async (tx) => {
    await tx.query({ text: `select pg_advisory_xact_lock(hashtext('workflow_slices'))` });
    const existing = await readSlices(tx);
    if (missingSlices(existing, { ...at, freeFromMs: 0 }).length === 0) return;
    await tx.query({ text: LOCK_TIMEOUT });
    // Nothing may come to lie in `rest` where a slice is about to be.
    await tx.query({ text: 'lock table workflow_steps_rest in share mode' });
    const newest = (await tx.query<{ id: string | null }>(selectNewest())).rows[0]?.id ?? undefined;
    const freeFromMs = newest === undefined ? 0 : timeOfId(newest) + 1;
    for (const slice of missingSlices(existing, { ...at, freeFromMs })) await makeSlice(tx, slice);
  });
}

const selectRunBytes = prepared(`select coalesce(sum(${RUN_BYTES}), 0)::float8 as bytes from workflow_runs`);
const selectFileBytes = prepared(`select sum(pg_total_relation_size(inhrelid))::float8 as bytes from pg_inherits
  where inhparent = 'workflow_steps'::regclass`);
const selectStepBytes = prepared(`select coalesce(sum(${STEP_BYTES}), 0)::float8 as bytes from workflow_steps`);

async function one(db: Queryable, statement: ReturnType<typeof selectRunBytes>): Promise<number> {
  return (await db.query<{ bytes: number }>(statement)).rows[0]?.bytes ?? 0;
}

/** Bytes of the files of all steps with their indexes, and of the rows of all runs. */
export async function readHistoryBytes(db: Queryable): Promise<number> {
  return (await one(db, selectFileBytes())) + (await one(db, selectRunBytes()));
}

/** Bytes of all rows: what was deleted does not count, wherever it has left its space. */
export async function readLiveBytes(db: Queryable): Promise<number> {
  return (await one(db, selectStepBytes())) + (await one(db, selectRunBytes()));
}

/** Removes the table of a slice. False while one of its runs is there. Throws when somebody reads it all the time. */
export async function dropSlice(tx: Transaction, slice: Slice): Promise<boolean> {
  const values = [firstRunId(slice.fromMs), firstRunId(slice.toMs)];
  const text = 'select from workflow_runs where id >= $1 and id < $2 limit 1';
  if ((await tx.query({ text, values })).rowCount > 0) return false;
  await tx.query({ text: LOCK_TIMEOUT });
  await tx.query({ text: `drop table if exists workflow_steps_${sliceSuffix(slice)}` });
  return true;
}

/** What a delete took. */
interface Deleted {
  runs: number;
  bytes: number;
}

interface Piece {
  /** Only runs with ids before it. */
  beforeId: string;
  limit: number;
  /** Whether their steps go one by one, or with the table of their slice. */
  withSteps: boolean;
}

const deleteRuns = prepared(`with old as (
    select developer_id, id from workflow_runs
    where status in ('completed', 'failed') and id < $1 order by id limit $2 for update skip locked)
  delete from workflow_runs r using old where r.developer_id = old.developer_id and r.id = old.id
  returning r.developer_id as "developerId", r.id, ${RUN_BYTES} as bytes`);

/** Deletes the oldest runs that have ended. */
export async function deleteOldest(database: Database, { beforeId, limit, withSteps }: Piece): Promise<Deleted> {
  // Steps that lie in no slice go with no table.
  const table = withSteps ? 'workflow_steps' : 'workflow_steps_rest';
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ developerId: string; id: string; bytes: number }>(deleteRuns([beforeId, limit]));
    const steps = await tx.query<{ bytes: number }>({
      text: `with gone as (
          delete from ${table} s using unnest($1::text[], $2::text[]) as o (developer_id, run_id)
          where s.developer_id = o.developer_id and s.run_id = o.run_id returning ${STEP_BYTES} as bytes)
        select coalesce(sum(bytes), 0)::float8 as bytes from gone`,
      values: [rows.map(({ developerId }) => developerId), rows.map(({ id }) => id)],
    });
    const ofRuns = rows.reduce((sum, { bytes }) => sum + bytes, 0);
    return { runs: rows.length, bytes: ofRuns + (steps.rows[0]?.bytes ?? 0) };
  });
}
