import type { Queryable } from '../../../platform/db/index.ts';
import { demandSubscriptionId, noSuchSubscription } from './no-such-subscription.ts';
import { removeSubscription } from './subscription.store.ts';

export async function deleteSubscription(db: Queryable, developerId: string, id: string): Promise<void> {
  demandSubscriptionId(id);
  if (!(await removeSubscription(db, developerId, id))) throw noSuchSubscription(id);
}
