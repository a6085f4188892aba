import { prepared, textColumn, valueColumn, type Queryable } from '../../platform/db/index.ts';

export interface CallLogRow {
  developerId: string;
  keyId: string;
  requestId: string;
  method: string;
  /** Path without the query. */
  endpoint: string;
  status: number;
  /** Unix milliseconds. */
  atMs: number;
  responseTimeMs: number;
}

const insertRows = prepared(`insert into call_log
    (developer_id, key_id, request_id, method, endpoint, status, at, response_time_ms)
  select developer_id, key_id, request_id, method, endpoint, status, to_timestamp(at_ms / 1000), response_time_ms
  from unnest(string_to_array($1, E'\\n'), string_to_array($2, E'\\n'), string_to_array($3, E'\\n'),
    string_to_array($4, E'\\n'), string_to_array($5, E'\\n'), $6::smallint[], $7::float8[], $8::float8[])
    as r (developer_id, key_id, request_id, method, endpoint, status, at_ms, response_time_ms)`);

/** None of the texts can hold a line break: ids, and what came in one line of HTTP. */
export async function insertCalls(db: Queryable, rows: readonly CallLogRow[]): Promise<void> {
  const values = [
    textColumn(rows, (row) => row.developerId),
    textColumn(rows, (row) => row.keyId),
    textColumn(rows, (row) => row.requestId),
    textColumn(rows, (row) => row.method),
    textColumn(rows, (row) => row.endpoint),
    valueColumn(rows, (row) => row.status),
    valueColumn(rows, (row) => row.atMs),
    valueColumn(rows, (row) => row.responseTimeMs),
  ];
  await db.query(insertRows(values));
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

/** Where a call stands in the order of the log. */
export interface CallPosition {
  atMs: number;
  seq: number;
}

export interface CallFilter {
  developerId: string;
  /** Only calls before this position; all when absent. */
  before: CallPosition | undefined;
  /** How the endpoint begins. */
  endpoint: string | undefined;
  method: string | undefined;
  status: number | undefined;
}

export interface LoggedCallRow extends CallPosition {
  developerId: string;
  endpoint: string;
  method: string;
  status: number;
  responseTimeMs: number;
}

// The comparison of the rows begins the index scan; the one of `at` alone is what leaves out later partitions.
const IN_ORDER = `from call_log
    where developer_id = $1 and at <= coalesce(to_timestamp($2::float8 / 1000), 'infinity')
      and (at, seq) < (coalesce(to_timestamp($2::float8 / 1000), 'infinity'), $3::bigint)
    order by at desc, seq desc`;
const AT_MS = '(extract(epoch from at) * 1000)::bigint as "atMs"';

const selectCalls = prepared(`select ${AT_MS}, seq, developer_id as "developerId", endpoint, method, status,
    response_time_ms as "responseTimeMs"
  from (select * ${IN_ORDER} limit $4) looked_at
  where ($5::text is null or starts_with(endpoint, $5)) and ($6::text is null or method = $6)
    and ($7::smallint is null or status = $7)
  order by at desc, seq desc
  limit $8`);

const selectPosition = prepared(`select ${AT_MS}, seq ${IN_ORDER} limit 1 offset $4`);

function place({ developerId, before }: CallFilter): unknown[] {
  return [developerId, before?.atMs, before?.seq ?? 0];
}

/** The newest calls that pass the filter, at most `limit`, of the `reach` newest ones. */
export async function readCalls(
  db: Queryable,
  filter: CallFilter,
  { limit, reach }: { limit: number; reach: number },
): Promise<LoggedCallRow[]> {
  const { endpoint, method, status } = filter;
  const values = [...place(filter), reach, endpoint, method, status, limit];
  return (await db.query<LoggedCallRow>(selectCalls(values))).rows;
}

/** The position of the last of the `reach` newest calls; undefined when there are not so many. */
export async function readReach(db: Queryable, filter: CallFilter, reach: number): Promise<CallPosition | undefined> {
  return (await db.query<CallPosition>(selectPosition([...place(filter), reach - 1]))).rows[0];
}
