import type { Transaction } from '../../../platform/db/index.ts';
import { AppError } from '../../../platform/errors/index.ts';
import { noSuchSubscription } from '../subscriptions/no-such-subscription.ts';
import { lockSubscription } from '../subscriptions/subscription.store.ts';
import type { SubscriptionRef } from './delivery.store.ts';

/**
 * Keeps a subscription enabled until the transaction ends. Throws NOT_FOUND, or CONFLICT when it is disabled: what were
 * made pending then would never be sent.
 */
export async function lockEnabled(tx: Transaction, { developerId, subscriptionId }: SubscriptionRef): Promise<void> {
  const subscription = await lockSubscription(tx, developerId, subscriptionId);
  if (!subscription) throw noSuchSubscription(subscriptionId);
  if (!subscription.enabled) {
    throw new AppError('CONFLICT', `The webhook "${subscriptionId}" is disabled; enable it first.`);
  }
}
