import type { EventType } from '../../../../contract/events/index.ts';
import { prepared, type Queryable } from '../../../platform/db/index.ts';
import { LEASE_SECONDS, type Consignment } from './delivery.ts';

/** A subscription of a developer. */
export interface LaneKey {
  developerId: string;
  subscriptionId: string;
}

// A loose index scan: one probe a subscription that has anything pending, however much it has.
const selectDueLanes = prepared(`with recursive lanes as (
    (select developer_id, subscription_id, due_at from webhook_deliveries where status = 'pending'
      order by developer_id, subscription_id, due_at limit 1)
    union all
    select n.* from lanes l cross join lateral (
      select developer_id, subscription_id, due_at from webhook_deliveries
      where status = 'pending' and (developer_id, subscription_id) > (l.developer_id, l.subscription_id)
      order by developer_id, subscription_id, due_at limit 1) n
  )
  select developer_id as "developerId", subscription_id as "subscriptionId" from lanes where due_at <= now()`);

/** The subscriptions that have deliveries due. */
export async function findDueLanes(db: Queryable): Promise<LaneKey[]> {
  return (await db.query<LaneKey>(selectDueLanes())).rows;
}

interface ClaimedRow {
  id: string;
  developerId: string;
  subscriptionId: string;
  attemptCount: number;
  url: string;
  secret: string | null;
  previousSecret: string | null;
  previousSecretUntil: Date | null;
  messageId: string;
  event: EventType;
  body: string;
  createdAt: Date;
}

const claim = prepared(`with claimed as materialized (
    select c.developer_id, c.id
    from unnest($1::text[], $2::text[], $3::int[]) as lane (developer_id, subscription_id, room)
    cross join lateral (
      select d.developer_id, d.id from webhook_deliveries d
      where d.developer_id = lane.developer_id and d.subscription_id = lane.subscription_id
        and status = 'pending' and due_at <= now()
      order by due_at limit lane.room
      for update skip locked) c
  )
  update webhook_deliveries d
  set due_at = now() + interval '${LEASE_SECONDS} seconds'
  from claimed c, webhook_subscriptions s, webhook_messages m
  where d.developer_id = c.developer_id and d.id = c.id
    and s.developer_id = d.developer_id and s.id = d.subscription_id
    and m.developer_id = d.developer_id and m.id = d.message_id
  returning d.id, d.developer_id as "developerId", d.subscription_id as "subscriptionId",
    d.attempt_count as "attemptCount", s.url, s.secret, s.previous_secret as "previousSecret",
    s.previous_secret_until as "previousSecretUntil", m.id as "messageId", m.event, m.body, m.created_at as "createdAt"`);

function consignmentOf(row: ClaimedRow): Consignment {
  const { id, attemptCount, messageId, event, body, createdAt, ...destination } = row;
  return { id, attemptCount, destination, message: { id: messageId, event, body, createdAt } };
}

/** Takes on the longest due deliveries of each lane, as many as it has room for; others pass over them meanwhile. */
export async function claimDue(db: Queryable, lanes: readonly (LaneKey & { room: number })[]): Promise<Consignment[]> {
  const { rows } = await db.query<ClaimedRow>(
    claim([
      lanes.map(({ developerId }) => developerId),
      lanes.map(({ subscriptionId }) => subscriptionId),
      lanes.map(({ room }) => room),
    ]),
  );
  return rows.map(consignmentOf);
}

const release = prepared(`update webhook_deliveries d set due_at = now()
  from unnest($1::text[], $2::text[]) as r (developer_id, id)
  where d.developer_id = r.developer_id and d.id = r.id and status = 'pending'`);

/** Gives back what was taken on and not attempted. */
export async function releaseDeliveries(db: Queryable, consignments: readonly Consignment[]): Promise<void> {
  await db.query(
    release([consignments.map(({ destination }) => destination.developerId), consignments.map(({ id }) => id)]),
  );
}
