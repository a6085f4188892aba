import { EVENT_TYPES, type listWebhooks as contract } from '../../../../contract/routes/events.ts';
import type { RouteInput, RouteOutput } from '../../../../contract/shared/route.ts';
import type { Queryable } from '../../../platform/db/index.ts';
import { wireSubscription } from './subscription-wire.ts';
import { subscriptionsBefore } from './subscription.store.ts';

/** Subscriptions, newest first: all of them, or a page with the id of its last one as the cursor. */
export async function listSubscriptions(
  db: Queryable,
  developerId: string,
  { limit, cursor }: RouteInput<typeof contract>['query'],
): Promise<RouteOutput<typeof contract>> {
  // One more than is shown tells whether there are more.
  const rows = await subscriptionsBefore(db, developerId, {
    before: cursor,
    limit: limit === undefined ? undefined : limit + 1,
  });
  const shown = rows.slice(0, limit);
  const last = shown.length < rows.length ? shown.at(-1) : undefined;
  return {
    webhooks: shown.map(wireSubscription),
    eventTypes: EVENT_TYPES,
    ...(last ? { nextCursor: last.id } : {}),
  };
}
