import * as contract from '../../../contract/routes/events.ts';
import { implement, type Route } from '../../platform/http/index.ts';
import { wireDelivery } from './delivery-log/delivery-wire.ts';
import { listDeliveries } from './delivery-log/list-deliveries.ts';
import { readDelivery } from './delivery-log/read-delivery.ts';
import { recover } from './delivery-log/recover.ts';
import { redeliver } from './delivery-log/redeliver.ts';
import type { EventParts } from './event-parts.ts';
import { createSubscription } from './subscriptions/create-subscription.ts';
import { deleteSubscription } from './subscriptions/delete-subscription.ts';
import { listSubscriptions } from './subscriptions/list-subscriptions.ts';
import { wireSubscription } from './subscriptions/subscription-wire.ts';
import { testSubscription } from './subscriptions/test-subscription.ts';
import { updateSubscription } from './subscriptions/update-subscription.ts';

function subscriptionRoutes(parts: EventParts): Route[] {
  const { database } = parts;
  return [
    implement(contract.createWebhook, async ({ caller }, { body }) => {
      const row = await createSubscription(parts, caller.developerId, body);
      return { id: row.id, ...wireSubscription(row) };
    }),
    implement(contract.listWebhooks, ({ caller }, { query }) => listSubscriptions(database, caller.developerId, query)),
    implement(contract.deleteWebhook, async ({ caller }, { params }) => {
      await deleteSubscription(database, caller.developerId, params.id);
      return { success: true as const };
    }),
    implement(contract.updateWebhook, async ({ caller: { developerId } }, { params, body }) =>
      wireSubscription(await updateSubscription(parts, { developerId, id: params.id }, body)),
    ),
    implement(contract.testWebhook, ({ caller }, { params }) => testSubscription(parts, caller.developerId, params.id)),
    implement(contract.listEventTypes, () => ({ eventTypes: contract.EVENT_TYPES })),
  ];
}

function deliveryRoutes(parts: EventParts): Route[] {
  const { database } = parts;
  return [
    implement(contract.listDeliveries, ({ caller: { developerId } }, { params, query }) =>
      listDeliveries(database, { developerId, subscriptionId: params.id }, query),
    ),
    implement(contract.getDelivery, async ({ caller }, { params }) => {
      const row = await readDelivery(database, caller.developerId, params.id);
      return { ...wireDelivery(row), body: messageOf(row.body) };
    }),
    implement(contract.redeliver, async ({ caller }, { params }) =>
      wireDelivery(await redeliver(database, caller.developerId, params.id)),
    ),
    implement(contract.recoverWebhook, async ({ caller: { developerId } }, { params, body }) => {
      const recovered = await recover(parts, { developerId, subscriptionId: params.id }, body.since);
      return { success: true as const, recovered };
    }),
  ];
}

/** Safe because the service wrote the text itself, from an object. */
function messageOf(body: string): Record<string, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(body) as Record<string, unknown>;
}

export function eventRoutes(parts: EventParts): Route[] {
  return [...subscriptionRoutes(parts), ...deliveryRoutes(parts)];
}
