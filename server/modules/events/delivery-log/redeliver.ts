import type { Database } from '../../../platform/db/index.ts';
import { AppError } from '../../../platform/errors/index.ts';
import { restartDelivery, wakeSenders, type DeliveryRow } from './delivery.store.ts';
import { lockEnabled } from './lock-enabled.ts';
import { readDelivery } from './read-delivery.ts';

/** Makes one delivery due now, with its whole schedule before it; attempts that were made stay in its history. */
export async function redeliver(database: Database, developerId: string, id: string): Promise<DeliveryRow> {
  return database.transaction(async (tx) => {
    const { subscriptionId } = await readDelivery(tx, developerId, id);
    await lockEnabled(tx, { developerId, subscriptionId });
    if (!(await restartDelivery(tx, developerId, id))) {
      throw new AppError('CONFLICT', `The delivery "${id}" is pending and due within the minute.`);
    }
    await wakeSenders(tx);
    return readDelivery(tx, developerId, id);
  });
}
