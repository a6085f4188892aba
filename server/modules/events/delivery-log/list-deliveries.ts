import type { listDeliveries as contract } from '../../../../contract/routes/events.ts';
import type { RouteInput, RouteOutput } from '../../../../contract/shared/route.ts';
import type { Queryable } from '../../../platform/db/index.ts';
import { demandSubscriptionId, noSuchSubscription } from '../subscriptions/no-such-subscription.ts';
import { findSubscription } from '../subscriptions/subscription.store.ts';
import { wireDelivery } from './delivery-wire.ts';
import { deliveriesBefore, type SubscriptionRef } from './delivery.store.ts';

const DEFAULT_LIMIT = 50;

/** A page of deliveries, newest first, with the id of its last one as the cursor. */
export async function listDeliveries(
  db: Queryable,
  { developerId, subscriptionId }: SubscriptionRef,
  query: RouteInput<typeof contract>['query'],
): Promise<RouteOutput<typeof contract>> {
  demandSubscriptionId(subscriptionId);
  if (!(await findSubscription(db, developerId, subscriptionId))) throw noSuchSubscription(subscriptionId);
  const { limit = DEFAULT_LIMIT, cursor, status } = query;
  // One more than is shown tells whether there are more.
  const page = { before: cursor, status, limit: limit + 1 };
  const rows = await deliveriesBefore(db, { developerId, subscriptionId }, page);
  const shown = rows.slice(0, limit);
  const last = shown.length < rows.length ? shown.at(-1) : undefined;
  return { deliveries: shown.map(wireDelivery), ...(last ? { nextCursor: last.id } : {}) };
}
