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

/** Requests of a key in the UTC month that the day lies in. */
export async function sumMonth(
  db: Queryable,
  key: { developerId: string; keyId: string; day: string },
): Promise<number> {
  const { rows } = await db.query<{ requests: number }>({
    text: `select coalesce(sum(requests), 0)::float8 as requests from usage_counters
      where developer_id = $1 and key_id = $2
        and day >= date_trunc('month', $3::date) and day < date_trunc('month', $3::date) + interval '1 month'`,
    values: [key.developerId, key.keyId, key.day],
  });
  return rows[0]?.requests ?? 0;
}
