import type { Tier } from '../../../contract/shared/tiers.ts';
import { notifyChange, type Database } from '../../platform/db/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { fingerprint } from './api-key.ts';
import { createKey } from './create-key.ts';
import { CUSTOM_KEYS_TOPIC } from './custom-keys.ts';
import { findOperator, insertDeveloper } from './developer.store.ts';
import { findKeyState } from './key.store.ts';
import { PERMISSIONS } from '../../../contract/shared/tiers.ts';

const OPERATOR_NAME = 'First developer';
const BOOTSTRAP_KEY_NAME = 'Bootstrap Key';

export interface Bootstrap {
  /** A key that was generated at this start and is to be printed; undefined on every later start. */
  generatedKey: string | undefined;
  /** True when BOOTSTRAP_API_KEY names a key that was revoked: it stays so. */
  isGivenKeyRevoked: boolean;
}

/**
 * Makes sure that there is a first developer with a key. Replicas that start together agree: the first to lock
 * the table creates, the others find.
 */
export async function bootstrap(db: Database, given: { key: string | undefined; tier: Tier }): Promise<Bootstrap> {
  return db.transaction(async (tx) => {
    const found = await findOperator(tx);
    const operator = found ?? { id: createId('dev'), name: OPERATOR_NAME, tier: given.tier, isOperator: true };
    if (!found) await insertDeveloper(tx, operator);
    const state = given.key === undefined ? undefined : await findKeyState(tx, fingerprint(given.key));
    const isNeeded = given.key === undefined ? !found : state === undefined;
    if (!isNeeded) return { generatedKey: undefined, isGivenKeyRevoked: state?.enabled === false };
    const created = await createKey(tx, {
      developerId: operator.id,
      tier: operator.tier,
      name: BOOTSTRAP_KEY_NAME,
      permissions: PERMISSIONS,
      ...(given.key === undefined ? {} : { value: given.key }),
    });
    if (given.key !== undefined) await notifyChange(tx, CUSTOM_KEYS_TOPIC, fingerprint(given.key));
    return { generatedKey: given.key === undefined ? created.key : undefined, isGivenKeyRevoked: false };
  });
}
