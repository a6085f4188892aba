import type { Queryable } from '../../../platform/db/index.ts';
import { AppError } from '../../../platform/errors/index.ts';
import { isId } from '../../../platform/ids/index.ts';
import { findDelivery, type DeliveryRow } from './delivery.store.ts';

/** A delivery with the text of its message. Throws NOT_FOUND for one that is absent or somebody else's. */
export async function readDelivery(
  db: Queryable,
  developerId: string,
  id: string,
): Promise<DeliveryRow & { body: string }> {
  const row = isId('dlv', id) ? await findDelivery(db, developerId, id) : undefined;
  if (!row) throw new AppError('NOT_FOUND', `There is no delivery "${id}".`);
  return row;
}
