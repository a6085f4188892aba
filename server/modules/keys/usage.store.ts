import type { Queryable } from '../../platform/db/index.ts';

/** Requests of one key on one UTC day. */
export interface UsageCount {
  developerId: string;
  keyId: string;
  /** YYYY-MM-DD. */
  day: string;
  requests: number;
}

/** Adds counts and gives the totals that result, which include what other processes added. */
export async function addUsage(db: Queryable, counts: UsageCount[]): Promise<UsageCount[]> {
  const { rows } = await db.query<UsageCount>({
    name: 'add-usage',
    // In one order everywhere, so that two processes adding to the same keys cannot deadlock.
    text: `insert into usage_counters as u (developer_id, key_id, day, requests)
      select "developerId", "keyId", day, requests
      from json_to_recordset($1) as c ("developerId" text, "keyId" text, day date, requests bigint)
      order by 1, 2, 3
      on conflict (developer_id, key_id, day) do update set requests = u.requests + excluded.requests
      returning developer_id as "developerId", key_id as "keyId", day::text as day, requests::float8 as requests`,
    values: [JSON.stringify(counts)],
  });
  return rows;
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
