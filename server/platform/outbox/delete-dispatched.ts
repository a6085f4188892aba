import { prepared, type Queryable } from '../db/index.ts';

const remove = prepared(`with old as (
    select developer_id, id from outbox_events where dispatched_at < $1
    order by dispatched_at limit $2 for update skip locked)
  delete from outbox_events e using old where e.developer_id = old.developer_id and e.id = old.id`);

/** Deletes events that were handed over before the moment, the oldest ones, at most `limit`. Gives how many. */
export async function deleteDispatched(db: Queryable, before: Date, limit: number): Promise<number> {
  return (await db.query(remove([before, limit]))).rowCount;
}
