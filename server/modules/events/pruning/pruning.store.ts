import { prepared, type Queryable, type Transaction } from '../../../platform/db/index.ts';

const selectPartitions = prepared(`select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'call_log'::regclass order by c.relname`);

const PARTITION = /^call_log_(\d{4})_(\d{2})_(\d{2})$/;

/** The UTC days (YYYY-MM-DD) that the log of calls has a partition for, oldest first. */
export async function readPartitionDays(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(selectPartitions());
  return rows.flatMap(({ name }) => {
    const [, year, month, day] = PARTITION.exec(name) ?? [];
    return year === undefined ? [] : [`${year}-${month}-${day}`];
  });
}

/** Removes a day of the log with its file. Gives up after a moment: while it waits for a reader, all calls wait for it. */
export async function dropPartition(tx: Transaction, day: string): Promise<void> {
  const name = `call_log_${day.replaceAll('-', '_')}`;
  if (!PARTITION.test(name)) throw new TypeError('day must be YYYY-MM-DD');
  await tx.query({ text: `set local lock_timeout = '200ms'` });
  await tx.query({ text: `drop table if exists ${name}` });
}

const removeDeliveries = prepared(`with old as (
    select developer_id, id from webhook_deliveries where status <> 'pending' and updated_at < $1
    order by updated_at limit $2 for update skip locked)
  delete from webhook_deliveries d using old where d.developer_id = old.developer_id and d.id = old.id`);

/** Deletes deliveries that ended before the moment, at most `limit`. Gives how many. */
export async function deleteFinishedDeliveries(db: Queryable, before: Date, limit: number): Promise<number> {
  return (await db.query(removeDeliveries([before, limit]))).rowCount;
}

const removeMessages = prepared(`with old as (
    select developer_id, id from webhook_messages m
    where created_at < $1 and not exists (
      select from webhook_deliveries d where d.developer_id = m.developer_id and d.message_id = m.id)
    order by created_at limit $2 for update skip locked)
  delete from webhook_messages m using old where m.developer_id = old.developer_id and m.id = old.id`);

/** Deletes messages made before the moment that no delivery needs any more, at most `limit`. Gives how many. */
export async function deleteUnusedMessages(db: Queryable, before: Date, limit: number): Promise<number> {
  return (await db.query(removeMessages([before, limit]))).rowCount;
}
