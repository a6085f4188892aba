import type { Seal, SealPlace, Vault } from '../../../platform/crypto/index.ts';
import type { SubscriptionRow } from './subscription.store.ts';

type Owner = Pick<SubscriptionRow, 'developerId' | 'id'>;

/** One place for the present and the previous secret, so that a sealed text can become the other as it is. */
export function placeOfSecret({ developerId, id }: Owner): SealPlace {
  return { purpose: 'webhook-secret', developerId, row: id, field: 'secret' };
}

export function sealSecret(seal: Seal, owner: Owner, secret: string): string {
  return seal(placeOfSecret(owner), secret);
}

/** How long the secret before signs beside a new one. */
const OVERLAP_MS = 24 * 3_600_000;

type Secrets = Pick<SubscriptionRow, 'secret' | 'previousSecret' | 'previousSecretUntil'>;

/**
 * The secrets of a subscription after a change: `undefined` leaves them, null takes them away, a new one moves the
 * present one to the side for a day. The present one given again changes nothing.
 */
export function changedSecrets(
  { vault, seal }: { vault: Vault; seal: Seal },
  row: SubscriptionRow,
  change: { secret: string | null | undefined; nowMs: number },
): Secrets {
  const { secret, previousSecret, previousSecretUntil } = row;
  if (change.secret === undefined) return { secret, previousSecret, previousSecretUntil };
  if (change.secret === null) return { secret: null, previousSecret: null, previousSecretUntil: null };
  const isSame = secret !== null && vault.open(placeOfSecret(row), secret) === change.secret;
  if (isSame) return { secret, previousSecret, previousSecretUntil };
  return {
    secret: sealSecret(seal, row, change.secret),
    previousSecret: secret,
    previousSecretUntil: secret === null ? null : new Date(change.nowMs + OVERLAP_MS),
  };
}
