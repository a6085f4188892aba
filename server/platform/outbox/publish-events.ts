import { prepared, storableJson, type Database, type Queryable, type Transaction } from '../db/index.ts';
import { createId } from '../ids/index.ts';
import type { NewEvent } from './event.ts';

const insertEvents = prepared(`insert into outbox_events (developer_id, id, type, data, depth)
  select "developerId", id, type, data, depth
  from json_to_recordset($1) as e ("developerId" text, id text, type text, data jsonb, depth smallint)
  on conflict do nothing`);

/**
 * Writes events in the transaction of the change they tell of: they exist if and only if it commits. Characters that
 * jsonb cannot hold become U+FFFD.
 */
export function publishEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  return insert(tx, events);
}

/** Writes events that belong to no change, all of them or none: one statement commits by itself, in one round trip. */
export function publishAlone(database: Database, events: readonly NewEvent[]): Promise<void> {
  return insert(database, events);
}

async function insert(db: Queryable, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ id = createId('evt'), developerId, type, data, depth = 0 }) => ({
    developerId,
    id,
    type,
    data,
    depth,
  }));
  await db.query(insertEvents([storableJson(rows)]));
}
