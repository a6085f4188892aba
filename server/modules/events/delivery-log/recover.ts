import { systemClock } from '../../../platform/clock/index.ts';
import { AppError } from '../../../platform/errors/index.ts';
import type { EventParts } from '../event-parts.ts';
import { demandSubscriptionId } from '../subscriptions/no-such-subscription.ts';
import { restartFailed, wakeSenders, type SubscriptionRef } from './delivery.store.ts';
import { lockEnabled } from './lock-enabled.ts';

/** Unix milliseconds of a moment that is over. The format allows days and leap seconds that no calendar has. */
function pastMs(since: string, nowMs: number): number {
  const sinceMs = Date.parse(since);
  if (Number.isNaN(sinceMs)) throw new AppError('INVALID_REQUEST', 'since is not a date and time that exists.');
  if (sinceMs > nowMs) throw new AppError('INVALID_REQUEST', 'since must not be in the future.');
  return sinceMs;
}

/** Makes due now what failed since a moment; gives how many deliveries these are. */
export async function recover(
  { database, clock = systemClock }: EventParts,
  subscription: SubscriptionRef,
  since: string,
): Promise<number> {
  demandSubscriptionId(subscription.subscriptionId);
  const sinceMs = pastMs(since, clock.nowMs());
  return database.transaction(async (tx) => {
    await lockEnabled(tx, subscription);
    const recovered = await restartFailed(tx, subscription, sinceMs);
    await wakeSenders(tx);
    return recovered;
  });
}
