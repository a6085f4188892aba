import type { createWebhook as contract } from '../../../../contract/routes/events.ts';
import type { RouteInput } from '../../../../contract/shared/route.ts';
import { AppError } from '../../../platform/errors/index.ts';
import { createId } from '../../../platform/ids/index.ts';
import type { EventParts } from '../event-parts.ts';
import { demandUsableSubscription } from './check-subscription.ts';
import { countAndHold, insertSubscription, type SubscriptionRow } from './subscription.store.ts';
import { sealSecret } from './webhook-secret.ts';

const MAX_SUBSCRIPTIONS = 1000;

export async function createSubscription(
  { database, outbound, vault }: EventParts,
  developerId: string,
  body: RouteInput<typeof contract>['body'],
): Promise<SubscriptionRow> {
  demandUsableSubscription(outbound, body);
  const { event, url, filter = null, secret } = body;
  const owner = { developerId, id: createId('hook') };
  return database.transaction(async (tx) => {
    if ((await countAndHold(tx, developerId)) >= MAX_SUBSCRIPTIONS) {
      throw new AppError('CONFLICT', `There are ${MAX_SUBSCRIPTIONS} webhooks already; delete one first.`);
    }
    const sealed = secret === undefined ? null : sealSecret(await vault.sealer(tx), owner, secret);
    return insertSubscription(tx, { ...owner, event, url, filter, secret: sealed });
  });
}
