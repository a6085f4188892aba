import { systemClock } from '../../../platform/clock/index.ts';
import type { Attempt } from '../deliveries/delivery.ts';
import type { EventParts } from '../event-parts.ts';
import { demandSubscriptionId, noSuchSubscription } from './no-such-subscription.ts';
import { sampleMessage } from './sample-message.ts';
import { findSubscription } from './subscription.store.ts';

/** Sends a sample of the event once. Nothing is recorded, and a failure does not count. */
export async function testSubscription(
  { database, attempt, clock = systemClock }: EventParts,
  developerId: string,
  id: string,
): Promise<{ success: boolean; attempt: Attempt }> {
  demandSubscriptionId(id);
  const row = await findSubscription(database, developerId, id);
  if (!row) throw noSuchSubscription(id);
  const outcome = await attempt({ ...row, subscriptionId: id }, sampleMessage(row.event, clock.nowMs()));
  return { success: outcome.error === null, attempt: outcome };
}
