import { prepared, type Transaction } from '../db/index.ts';
import type { OutboxEvent } from './event.ts';

// Claiming and noting are one statement: all that follows is in the same transaction, which undoes both together.
const claim = prepared(`with claimed as materialized (
    select developer_id, id from outbox_events
    where dispatched_at is null and (retry_at is null or retry_at <= now())
    order by seq
    limit $1
    for update skip locked
  )
  update outbox_events o set dispatched_at = now()
  from claimed c
  where o.developer_id = c.developer_id and o.id = c.id
  returning o.developer_id as "developerId", o.id, type, data, depth, created_at as "createdAt", seq::float8 as seq`);

/**
 * Claims the oldest waiting events, in their order, and notes them as handed over; until the transaction ends others
 * pass over them.
 */
export async function claimEvents(tx: Transaction, limit: number): Promise<OutboxEvent[]> {
  const { rows } = await tx.query<OutboxEvent & { seq: number }>(claim([limit]));
  return rows.toSorted((a, b) => a.seq - b.seq).map(({ seq: _seq, ...event }) => event);
}

const postpone = prepared(`update outbox_events
  set failures = failures + 1, retry_at = now() + least(interval '1 second' * 2 ^ least(failures, 20), interval '1 hour')
  where developer_id = $1 and id = $2 and dispatched_at is null
  returning failures`);

/** Offers an event again later: after a second, then twice as long each time, up to an hour. Gives its failures so far. */
export async function postponeEvent(tx: Transaction, { developerId, id }: OutboxEvent): Promise<number> {
  return (await tx.query<{ failures: number }>(postpone([developerId, id]))).rows[0]?.failures ?? 0;
}
