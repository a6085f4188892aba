import { prepared, type Queryable } from '../db/index.ts';

// The library keeps a job that used up its attempts for ever.
const remove = prepared(`delete from graphile_worker._private_jobs where id in (
  select id from graphile_worker._private_jobs
  where attempts >= max_attempts and locked_at is null and updated_at < $1
  limit $2 for update skip locked)`);

/** Deletes jobs that were given up before the moment, at most `limit`. Gives how many. */
export async function deleteFailedJobs(db: Queryable, before: Date, limit: number): Promise<number> {
  return (await db.query(remove([before, limit]))).rowCount;
}
