import type { EventType } from '../../../../contract/events/index.ts';
import type { Queryable, Transaction } from '../../../platform/db/index.ts';
import type { Attempt } from '../deliveries/delivery.ts';

export interface DeliveryRow {
  id: string;
  subscriptionId: string;
  messageId: string;
  event: EventType;
  status: 'pending' | 'delivered' | 'failed';
  dueAt: Date;
  attempts: Attempt[];
  reason: string | null;
  createdAt: Date;
}

/** One subscription of a developer. */
export interface SubscriptionRef {
  developerId: string;
  subscriptionId: string;
}

const COLUMNS = `d.id, d.subscription_id as "subscriptionId", d.message_id as "messageId", m.event, d.status,
  d.due_at as "dueAt", d.attempts, d.reason, d.created_at as "createdAt"`;
const DELIVERIES = `webhook_deliveries d
  join webhook_messages m on m.developer_id = d.developer_id and m.id = d.message_id`;

export interface DeliveryPage {
  /** Only deliveries older than the one of this id. */
  before: string | undefined;
  status: DeliveryRow['status'] | undefined;
  limit: number;
}

/** Deliveries of a subscription, newest first. */
export async function deliveriesBefore(
  db: Queryable,
  { developerId, subscriptionId }: SubscriptionRef,
  { before, status, limit }: DeliveryPage,
): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>({
    text: `select ${COLUMNS} from ${DELIVERIES}
      where d.developer_id = $1 and d.subscription_id = $2 and ($3::text is null or d.id < $3)
        and ($4::text is null or d.status = $4)
      order by d.id desc limit $5`,
    values: [developerId, subscriptionId, before ?? null, status ?? null, limit],
  });
  return rows;
}

/** A delivery with the text of its message. */
export async function findDelivery(
  db: Queryable,
  developerId: string,
  id: string,
): Promise<(DeliveryRow & { body: string }) | undefined> {
  const { rows } = await db.query<DeliveryRow & { body: string }>({
    text: `select ${COLUMNS}, m.body from ${DELIVERIES} where d.developer_id = $1 and d.id = $2`,
    values: [developerId, id],
  });
  return rows[0];
}

/** Makes a delivery due now, with its whole schedule before it; false when it is due within the minute anyway. */
export async function restartDelivery(tx: Transaction, developerId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `update webhook_deliveries
      set status = 'pending', due_at = now(), attempt_count = 0, reason = null, updated_at = now()
      where developer_id = $1 and id = $2 and (status <> 'pending' or due_at > now() + interval '1 minute')`,
    values: [developerId, id],
  });
  return rowCount > 0;
}

/** Makes due now what failed and was created at `sinceMs` (Unix milliseconds) or later; gives how many these are. */
export async function restartFailed(
  tx: Transaction,
  { developerId, subscriptionId }: SubscriptionRef,
  sinceMs: number,
): Promise<number> {
  const { rowCount } = await tx.query({
    text: `update webhook_deliveries
      set status = 'pending', due_at = now(), attempt_count = 0, reason = null, updated_at = now()
      where developer_id = $1 and subscription_id = $2 and status = 'failed'
        and created_at >= to_timestamp($3::float8 / 1000)`,
    values: [developerId, subscriptionId, sinceMs],
  });
  return rowCount;
}

/** Tells every process, at commit, that deliveries are due. */
export async function wakeSenders(tx: Transaction): Promise<void> {
  await tx.query({ text: `select pg_notify('webhook_deliveries', '')` });
}
