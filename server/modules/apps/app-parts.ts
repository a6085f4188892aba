import type { Vault } from '../../platform/crypto/index.ts';
import { notifyChange, type Database, type Transaction } from '../../platform/db/index.ts';
import type { Tools } from '../tools/index.ts';

/** What every part of this module works with. */
export interface AppParts {
  database: Database;
  vault: Vault;
  tools: Tools;
}

/** Topic of the change feed under which a developer is announced whose apps or installations changed. */
export const APPS_TOPIC = 'apps';

export function announce(tx: Transaction, developerId: string): Promise<void> {
  return notifyChange(tx, APPS_TOPIC, developerId);
}
