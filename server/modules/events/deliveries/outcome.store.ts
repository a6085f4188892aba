import { prepared, storableJson, textColumn, valueColumn, type Transaction } from '../../../platform/db/index.ts';
import type { Attempt } from './delivery.ts';
import type { LaneKey } from './claim.store.ts';

/** What an attempt makes of its delivery. */
export interface Outcome extends LaneKey {
  deliveryId: string;
  /** Attempts of the schedule, this one included. */
  attemptCount: number;
  status: 'pending' | 'delivered' | 'failed';
  /** Milliseconds until the next attempt, while pending. */
  delayMs: number;
  reason: string | null;
  attempt: Attempt;
}

/** Attempts that a delivery remembers. */
const MAX_ATTEMPTS = 20;

// The count of attempts keeps an outcome that is written twice from counting twice. A delivery that was given up while
// its attempt was under way stays so, unless it arrived.
const noteOutcomes = prepared(`update webhook_deliveries d
  set status = case when d.status = 'pending' or o.status = 'delivered' then o.status else d.status end,
    reason = case when d.status = 'pending' or o.status = 'delivered' then o.reason else d.reason end,
    due_at = now() + o.delay_ms * interval '1 millisecond', attempt_count = o.attempt_count,
    attempts = (case when jsonb_array_length(attempts) >= ${MAX_ATTEMPTS} then attempts - 0 else attempts end)
      || o.attempt::jsonb,
    updated_at = now()
  from unnest(string_to_array($1, E'\\n'), string_to_array($2, E'\\n'), $3::int[], string_to_array($4, E'\\n'),
      $5::float8[], string_to_array($6, E'\\n', ''), string_to_array($7, E'\\n'))
    as o (developer_id, delivery_id, attempt_count, status, delay_ms, reason, attempt)
  where d.developer_id = o.developer_id and d.id = o.delivery_id
    and d.status <> 'delivered' and d.attempt_count = o.attempt_count - 1
  returning d.id`);

/** Writes outcomes down; gives the ids of the deliveries for which they were news. */
export async function saveOutcomes(tx: Transaction, outcomes: readonly Outcome[]): Promise<Set<string>> {
  // None of the texts can hold a line break: ids, sentences of ours, and JSON, which spells it.
  const values = [
    textColumn(outcomes, ({ developerId }) => developerId),
    textColumn(outcomes, ({ deliveryId }) => deliveryId),
    valueColumn(outcomes, ({ attemptCount }) => attemptCount),
    textColumn(outcomes, ({ status }) => status),
    valueColumn(outcomes, ({ delayMs }) => delayMs),
    textColumn(outcomes, ({ reason }) => reason ?? ''),
    textColumn(outcomes, ({ attempt }) => storableJson(attempt)),
  ];
  const { rows } = await tx.query<{ id: string }>(noteOutcomes(values));
  return new Set(rows.map(({ id }) => id));
}

/** How a subscription stands. */
export interface Standing extends LaneKey {
  enabled: boolean;
  failCount: number;
  event: string;
  url: string;
}

// In one order everywhere, so that two processes cannot deadlock.
const lockStandings = prepared(`select s.developer_id as "developerId", id as "subscriptionId", enabled,
    fail_count as "failCount", event, url
  from webhook_subscriptions s
  join unnest($1::text[], $2::text[]) as l (developer_id, id) using (developer_id, id)
  order by s.developer_id, id
  for no key update of s`);

/** Reads subscriptions and keeps others from changing them until the transaction ends. */
export async function lockSubscriptions(tx: Transaction, lanes: readonly LaneKey[]): Promise<Standing[]> {
  const values = [lanes.map(({ developerId }) => developerId), lanes.map(({ subscriptionId }) => subscriptionId)];
  return (await tx.query<Standing>(lockStandings(values))).rows;
}

const updateStandings = prepared(`update webhook_subscriptions s
  set enabled = u.enabled, fail_count = u."failCount", last_triggered = now()
  from json_to_recordset($1) as u ("developerId" text, "subscriptionId" text, enabled boolean, "failCount" int)
  where s.developer_id = u."developerId" and s.id = u."subscriptionId"`);

export async function saveStandings(tx: Transaction, standings: readonly Standing[]): Promise<void> {
  await tx.query(updateStandings([JSON.stringify(standings)]));
}

const giveUp = prepared(`update webhook_deliveries d set status = 'failed', reason = $3, updated_at = now()
  from unnest($1::text[], $2::text[]) as l (developer_id, subscription_id)
  where d.developer_id = l.developer_id and d.subscription_id = l.subscription_id and status = 'pending'`);

/** Why pending deliveries of a subscription that is switched off are given up. */
const DISABLED = 'The subscription was disabled.';

/** Ends every pending delivery of subscriptions that are switched off. */
export async function giveUpPending(tx: Transaction, lanes: readonly LaneKey[]): Promise<void> {
  const values = [lanes.map(({ developerId }) => developerId), lanes.map(({ subscriptionId }) => subscriptionId)];
  await tx.query(giveUp([...values, DISABLED]));
}
