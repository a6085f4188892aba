import { AppError } from '../../../platform/errors/index.ts';
import { isId } from '../../../platform/ids/index.ts';

/** The refusal for an id that is absent or somebody else's: both look the same. */
export function noSuchSubscription(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no webhook "${id}".`);
}

/** Throws NOT_FOUND for what cannot be the id of a subscription. */
export function demandSubscriptionId(id: string): void {
  if (!isId('hook', id)) throw noSuchSubscription(id);
}
