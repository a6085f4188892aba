import type { Logger } from 'pino';
import type { ChangeFeed, Database } from '../../platform/db/index.ts';
import { errorMessage } from '../../platform/errors/index.ts';
import { customKeyHashes } from './key.store.ts';

/** Topic of the change feed under which the fingerprint of a new key that was chosen by hand is announced. */
export const CUSTOM_KEYS_TOPIC = 'custom-keys';

/** Fingerprints of the keys that were chosen by hand, which carry no checksum; follows what other processes add. */
export async function followCustomKeys(options: {
  database: Database;
  changes: ChangeFeed;
  log: Logger;
}): Promise<ReadonlySet<string>> {
  const { database, changes, log } = options;
  const hashes = new Set<string>();
  const read = async (): Promise<void> => {
    for (const keyHash of await customKeyHashes(database)) hashes.add(keyHash);
  };
  changes.on(CUSTOM_KEYS_TOPIC, (keyHash) => hashes.add(keyHash));
  changes.onLost(() => {
    // Called again when the feed is back, and that time it succeeds.
    read().catch((error: unknown) => log.debug(`cannot read the keys chosen by hand yet: ${errorMessage(error)}`));
  });
  await read();
  return hashes;
}
