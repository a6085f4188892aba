import type { Delivery } from '../../../../contract/routes/events.ts';
import type { DeliveryRow } from './delivery.store.ts';

/** A delivery as the API shows it. */
export function wireDelivery(row: DeliveryRow): Delivery {
  return {
    _id: row.id,
    webhookId: row.subscriptionId,
    eventId: row.messageId,
    event: row.event,
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    attempts: row.attempts,
    ...(row.status === 'pending' ? { nextAttemptAt: row.dueAt.toISOString() } : {}),
    createdAt: row.createdAt.toISOString(),
  };
}
