import type { Caller } from '../../platform/http/index.ts';
import { utcDay, type Clock } from '../../platform/clock/index.ts';
import { createInvalidatedCache, type ChangeFeed, type Database } from '../../platform/db/index.ts';
import { isWellFormedKey, rememberingFingerprint } from './api-key.ts';
import { findUsableKey } from './key.store.ts';
import type { Limiter } from './limiter.ts';

/** Topic of the change feed under which a key's fingerprint is announced when the key changes. */
export const KEYS_TOPIC = 'keys';

const MAX_WARM_KEYS = 50_000;
/** Values are held in clear here, so no more than a busy time needs; whoever can read this memory sees requests too. */
const MAX_FINGERPRINTS = 1000;

export interface VerifierOptions {
  database: Database;
  changes: ChangeFeed;
  limiter: Limiter;
  clock: Clock;
  /** Fingerprints of keys chosen by hand, which carry no checksum. */
  customKeyHashes: ReadonlySet<string>;
}

/**
 * Says whose a key is; undefined for one that is unknown, revoked, or of a developer who is switched off. A warm key
 * costs a hash and a look-up in memory, junk a checksum, anything else one query.
 */
export function createVerifier({ database, changes, limiter, clock, customKeyHashes }: VerifierOptions) {
  const callers = createInvalidatedCache<Caller>({
    feed: changes,
    topic: KEYS_TOPIC,
    maxEntries: MAX_WARM_KEYS,
    load: async (keyHash) => {
      const row = await findUsableKey(database, keyHash, utcDay(clock.nowMs()));
      if (!row) return undefined;
      limiter.open(row.id, { day: row.day, stored: row.requestsToday });
      const { id: keyId, developerId, permissions, tier, isOperator } = row;
      return { keyId, developerId, permissions, tier, isOperator };
    },
  });
  const fingerprintOf = rememberingFingerprint(MAX_FINGERPRINTS);
  return {
    identify: (key: string): Caller | undefined | Promise<Caller | undefined> => {
      const keyHash = fingerprintOf(key);
      const warm = callers.peek(keyHash);
      if (warm && limiter.meter(warm.keyId)) return warm;
      // A key that was not used for long is read again, with the count of its day.
      if (warm) callers.invalidate(keyHash);
      return isWellFormedKey(key) || customKeyHashes.has(keyHash) ? callers.get(keyHash) : undefined;
    },
    /** Forgets a key in this process at once; other processes hear of it through the feed. */
    forget: (keyHash: string): void => callers.invalidate(keyHash),
  };
}
