import {
  prepared,
  storableJson,
  textColumn,
  valueColumn,
  type Database,
  type Queryable,
  type Transaction,
} from '../db/index.ts';
import { createId } from '../ids/index.ts';
import type { NewEvent } from './event.ts';

const insertEvents = prepared(`insert into outbox_events (developer_id, id, type, data, depth)
  select developer_id, id, type, data::jsonb, depth
  from unnest(string_to_array($1, E'\\n'), string_to_array($2, E'\\n'), string_to_array($3, E'\\n'),
    string_to_array($4, E'\\n'), $5::smallint[]) as e (developer_id, id, type, data, depth)
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
  // None of the texts can hold a line break: ids, types, and JSON, which spells it.
  const values = [
    textColumn(events, ({ developerId }) => developerId),
    textColumn(events, ({ id }) => id ?? createId('evt')),
    textColumn(events, ({ type }) => type),
    textColumn(events, ({ data }) => storableJson(data)),
    valueColumn(events, ({ depth }) => depth ?? 0),
  ];
  await db.query(insertEvents(values));
}
