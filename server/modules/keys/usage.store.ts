import { prepared, type Queryable } from '../../platform/db/index.ts';

/** Requests of one key on one UTC day. */
export interface UsageCount {
  developerId: string;
  keyId: string;
  /** YYYY-MM-DD. */
  day: string;
  requests: number;
}

/** Counts that are written together, once: `writerId` and `number` tell them from every other batch. */
export interface UsageBatch {
  writerId: string;
  /** Rises with every batch of the writer. */
  number: number;
  /** By key and day. */
  counts: Map<string, UsageCount>;
}

// In one order everywhere, so that two processes adding to the same keys cannot deadlock. When a connection breaks in
// the middle of a commit nobody knows whether it took place: the number of the batch keeps it from being added twice.
const insertUsage = prepared(`with fresh as (
    insert into usage_writers as w (writer_id, last_batch) values ($2, $3)
    on conflict (writer_id) do update set last_batch = excluded.last_batch, seen_at = now()
      where w.last_batch < excluded.last_batch
    returning 1
  )
  insert into usage_counters as u (developer_id, key_id, day, requests)
  select "developerId", "keyId", day, requests
  from json_to_recordset($1) as c ("developerId" text, "keyId" text, day date, requests bigint)
  where exists (select from fresh)
  order by 1, 2, 3
  on conflict (developer_id, key_id, day) do update set requests = u.requests + excluded.requests
  returning developer_id as "developerId", key_id as "keyId", day, requests`);

const selectUsage = prepared(`select developer_id as "developerId", key_id as "keyId", usage_counters.day, requests
  from usage_counters
  join json_to_recordset($1) as c ("developerId" text, "keyId" text, day date)
    on developer_id = "developerId" and key_id = "keyId" and usage_counters.day = c.day`);

/** Adds a batch, unless it was added before, and gives the totals, which include what other processes added. */
export async function addUsage(db: Queryable, batch: UsageBatch): Promise<UsageCount[]> {
  const counts = JSON.stringify([...batch.counts.values()]);
  const { rows } = await db.query<UsageCount>(insertUsage([counts, batch.writerId, batch.number]));
  return rows.length > 0 ? rows : (await db.query<UsageCount>(selectUsage([counts]))).rows;
}

/** Forgets writers that ended long ago. */
export async function forgetOldWriters(db: Queryable): Promise<void> {
  await db.query({ text: `delete from usage_writers where seen_at < now() - interval '7 days'` });
}

/** Usage of a key in a UTC month, read at one moment. */
export interface MonthUsage {
  /** Requests of the day that was asked for. */
  today: number;
  /** Requests of the other days of its month. */
  otherDays: number;
  /** The newest batch of the asking writer that is in the counts; 0 when there is none. */
  lastBatch: number;
}

const selectMonth = prepared(`select
    coalesce(sum(requests) filter (where day = $3::date), 0)::float8 as today,
    coalesce(sum(requests) filter (where day <> $3::date), 0)::float8 as "otherDays",
    coalesce((select last_batch from usage_writers where writer_id = $4), 0)::float8 as "lastBatch"
  from usage_counters
  where developer_id = $1 and key_id = $2
    and day >= date_trunc('month', $3::date) and day < date_trunc('month', $3::date) + interval '1 month'`);

/** Reads the usage of a key in the UTC month that the day lies in. */
export async function readMonth(
  db: Queryable,
  asked: { developerId: string; keyId: string; day: string; writerId: string },
): Promise<MonthUsage> {
  const { developerId, keyId, day, writerId } = asked;
  const { rows } = await db.query<MonthUsage>(selectMonth([developerId, keyId, day, writerId]));
  return rows[0] ?? { today: 0, otherDays: 0, lastBatch: 0 };
}
