import type { Queryable } from '../../platform/db/index.ts';

export interface CallLogRow {
  developerId: string;
  id: string;
  keyId: string;
  requestId: string;
  method: string;
  endpoint: string;
  status: number;
  /** Unix milliseconds. */
  atMs: number;
  responseTimeMs: number;
}

export async function insertCalls(db: Queryable, rows: readonly CallLogRow[]): Promise<void> {
  await db.query({
    name: 'insert-calls',
    text: `insert into call_log (developer_id, id, key_id, request_id, method, endpoint, status, at, response_time_ms)
      select "developerId", id, "keyId", "requestId", method, endpoint, status, to_timestamp("atMs" / 1000), "responseTimeMs"
      from json_to_recordset($1) as r ("developerId" text, id text, "keyId" text, "requestId" text, method text,
        endpoint text, status smallint, "atMs" float8, "responseTimeMs" float8)
      on conflict do nothing`,
    values: [JSON.stringify(rows)],
  });
}

const DAY_MS = 86_400_000;

/** Makes the partition of a UTC day (YYYY-MM-DD) unless it is there. Processes may do this at the same time. */
export async function ensurePartition(db: Queryable, day: string): Promise<void> {
  const start = Date.parse(`${day}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(start)) throw new TypeError('day must be YYYY-MM-DD');
  const end = new Date(start + DAY_MS).toISOString().slice(0, 10);
  const name = `call_log_${day.replaceAll('-', '_')}`;
  await db.query({
    // Creating is serialised by a lock of its own: "if not exists" alone still fails when two create at once.
    text: `do $$ begin
      perform pg_advisory_xact_lock(hashtext('call_log_partitions'));
      create table if not exists ${name} partition of call_log
        for values from ('${day} 00:00:00+00') to ('${end} 00:00:00+00');
    end $$`,
  });
}
