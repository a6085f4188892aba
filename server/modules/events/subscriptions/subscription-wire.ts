import type { Webhook } from '../../../../contract/routes/events.ts';
import type { SubscriptionRow } from './subscription.store.ts';

/** A subscription as the API shows it: without its secrets. */
export function wireSubscription(row: SubscriptionRow): Webhook {
  return {
    _id: row.id,
    developerId: row.developerId,
    event: row.event,
    url: row.url,
    ...(row.filter === null ? {} : { filter: row.filter }),
    enabled: row.enabled,
    hasSecret: row.secret !== null,
    lastTriggered: row.lastTriggered?.toISOString() ?? null,
    failCount: row.failCount,
    createdAt: row.createdAt.toISOString(),
  };
}
