import type { Tier } from '../../../contract/shared/tiers.ts';
import { notifyChange, type Database } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { isId } from '../../platform/ids/index.ts';
import { lockDeveloper, saveDeveloper, type DeveloperRow } from './developer.store.ts';
import { setTierOfKeys } from './key.store.ts';
import { KEYS_TOPIC } from './verify-key.ts';

export interface DeveloperChange {
  tier?: Tier | undefined;
  enabled?: boolean | undefined;
}

function refuseLockOut(developer: DeveloperRow, change: DeveloperChange): void {
  if (!developer.isOperator || change.enabled !== false) return;
  throw new AppError(
    'CONFLICT',
    'enabled: the first developer cannot be switched off; nobody could switch it on again.',
  );
}

/** Changes tier or enabled. Gives the developer and the fingerprints of its keys, which then count as changed. */
export async function updateDeveloper(
  db: Database,
  id: string,
  change: DeveloperChange,
): Promise<{ developer: DeveloperRow; keyHashes: string[] }> {
  return db.transaction(async (tx) => {
    const found = isId('dev', id) ? await lockDeveloper(tx, id) : undefined;
    if (!found) throw new AppError('NOT_FOUND', `There is no developer "${id}".`);
    refuseLockOut(found, change);
    const developer = { ...found, tier: change.tier ?? found.tier, enabled: change.enabled ?? found.enabled };
    await saveDeveloper(tx, developer);
    const keyHashes = await setTierOfKeys(tx, id, developer.tier);
    for (const keyHash of keyHashes) await notifyChange(tx, KEYS_TOPIC, keyHash);
    return { developer, keyHashes };
  });
}
