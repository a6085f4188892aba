import type { Database } from '../../../platform/db/index.ts';
import { demandSubscriptionId, noSuchSubscription } from './no-such-subscription.ts';
import { removeSubscription } from './subscription.store.ts';

export async function deleteSubscription(database: Database, developerId: string, id: string): Promise<void> {
  demandSubscriptionId(id);
  const existed = await database.transaction((tx) => removeSubscription(tx, developerId, id));
  if (!existed) throw noSuchSubscription(id);
}
