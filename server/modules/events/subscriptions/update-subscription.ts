import type { updateWebhook as contract } from '../../../../contract/routes/events.ts';
import type { RouteInput } from '../../../../contract/shared/route.ts';
import { systemClock } from '../../../platform/clock/index.ts';
import { giveUpPending } from '../deliveries/outcome.store.ts';
import type { EventParts } from '../event-parts.ts';
import { demandUsableSubscription } from './check-subscription.ts';
import { demandSubscriptionId, noSuchSubscription } from './no-such-subscription.ts';
import { lockSubscription, saveSubscription, type SubscriptionRow } from './subscription.store.ts';
import { changedSecrets } from './webhook-secret.ts';

type Change = RouteInput<typeof contract>['body'];

/** Changes what is given and leaves the rest. Switching off gives up what is pending, in the same transaction. */
export async function updateSubscription(
  { database, outbound, vault, clock = systemClock }: EventParts,
  { developerId, id }: { developerId: string; id: string },
  change: Change,
): Promise<SubscriptionRow> {
  demandSubscriptionId(id);
  demandUsableSubscription(outbound, change);
  return database.transaction(async (tx) => {
    const row = await lockSubscription(tx, developerId, id);
    if (!row) throw noSuchSubscription(id);
    const changed = {
      ...row,
      ...changedSecrets({ vault, seal: await vault.sealer(tx) }, row, { secret: change.secret, nowMs: clock.nowMs() }),
      url: change.url ?? row.url,
      filter: change.filter === undefined ? row.filter : change.filter,
      enabled: change.enabled ?? row.enabled,
      failCount: change.enabled === true ? 0 : row.failCount,
    };
    await saveSubscription(tx, changed);
    if (!changed.enabled) await giveUpPending(tx, [{ developerId, subscriptionId: id }]);
    return changed;
  });
}
