import { prepared, type Transaction } from '../db/index.ts';
import type { OutboxEvent } from './event.ts';

const claim = prepared(`select developer_id as "developerId", id, type, data, depth,
    created_at as "createdAt"
  from outbox_events
  where dispatched_at is null and (retry_at is null or retry_at <= now())
  order by seq
  limit $1
  for update skip locked`);

/** Claims the oldest waiting events until the transaction ends; others pass over them. */
export async function claimEvents(tx: Transaction, limit: number): Promise<OutboxEvent[]> {
  return (await tx.query<OutboxEvent>(claim([limit]))).rows;
}

const mark = prepared(`update outbox_events o set dispatched_at = now()
  from unnest($1::text[], $2::text[]) as e (developer_id, id)
  where o.developer_id = e.developer_id and o.id = e.id`);

export async function markDispatched(tx: Transaction, events: readonly OutboxEvent[]): Promise<void> {
  await tx.query(mark([events.map(({ developerId }) => developerId), events.map(({ id }) => id)]));
}

const postpone = prepared(`update outbox_events
  set failures = failures + 1, retry_at = now() + least(interval '1 second' * 2 ^ least(failures, 20), interval '1 hour')
  where developer_id = $1 and id = $2 and dispatched_at is null
  returning failures`);

/** Offers an event again later: after a second, then twice as long each time, up to an hour. Gives its failures so far. */
export async function postponeEvent(tx: Transaction, { developerId, id }: OutboxEvent): Promise<number> {
  return (await tx.query<{ failures: number }>(postpone([developerId, id]))).rows[0]?.failures ?? 0;
}
