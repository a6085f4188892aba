import { PERMISSIONS, type Permission, type Tier } from '../../../contract/shared/tiers.ts';
import type { createApiKey } from '../../../contract/routes/keys.ts';
import type { RouteOutput } from '../../../contract/shared/route.ts';
import type { Transaction } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { fingerprint, isWellFormedKey, mintKey, mintSecret, shownStart } from './api-key.ts';
import { insertKey } from './key.store.ts';

const DEFAULT_NAME = 'Default Key';
const DEFAULT_PERMISSIONS: readonly Permission[] = ['read', 'write'];
const ONCE = 'Store the key and the secret in a safe place: they are shown only once.';

export interface NewKeyInput {
  developerId: string;
  tier: Tier;
  name?: string | undefined;
  permissions?: readonly Permission[] | undefined;
  /** A value chosen by hand; minted when absent. */
  value?: string;
}

/** Creates a key of a developer and gives the record that is shown once. */
export async function createKey(tx: Transaction, input: NewKeyInput): Promise<RouteOutput<typeof createApiKey>> {
  const id = createId('key');
  const key = input.value ?? mintKey();
  const secret = mintSecret();
  const name = input.name ?? DEFAULT_NAME;
  const wanted = input.permissions ?? DEFAULT_PERMISSIONS;
  const permissions = PERMISSIONS.filter((permission) => wanted.includes(permission));
  const { developerId, tier } = input;
  const fingerprints = { keyHash: fingerprint(key), secretHash: fingerprint(secret) };
  const isCustom = !isWellFormedKey(key);
  await insertKey(tx, { id, developerId, ...fingerprints, start: shownStart(key), name, permissions, tier, isCustom });
  return { id, key, secret, name, permissions, tier, message: ONCE };
}

/** Refuses permissions that the creator lacks: a key never grants more than it holds. */
export function refuseEscalation(
  held: readonly Permission[],
  wanted: readonly Permission[] = DEFAULT_PERMISSIONS,
): void {
  const excess = wanted.filter((permission) => !held.includes(permission));
  if (excess.length === 0) return;
  throw new AppError('FORBIDDEN', `permissions: the creating key does not hold ${excess.join(' and ')} itself.`);
}
