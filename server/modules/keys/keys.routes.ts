import * as contract from '../../../contract/routes/keys.ts';
import { implement, type Route } from '../../platform/http/index.ts';
import { createKey, refuseEscalation } from './create-key.ts';
import { listKeys, type KeyRow } from './key.store.ts';
import type { Keys } from './keys.ts';

/** A key as lists show it: identifier as `_id`, and only the start of the value. */
function wireKey({ id, start, name, permissions, tier, enabled, createdAt }: KeyRow) {
  return { _id: id, key: start, name, permissions, tier, enabled, createdAt: createdAt.toISOString() };
}

export function keyRoutes(keys: Keys): Route[] {
  return [
    implement(contract.createApiKey, ({ caller }, { body }) => {
      refuseEscalation(caller.permissions, body.permissions);
      const { developerId, tier } = caller;
      const { name, permissions } = body;
      return keys.database.transaction((tx) => createKey(tx, { developerId, tier, name, permissions }));
    }),
    implement(contract.listApiKeys, async ({ caller }) => ({
      keys: (await listKeys(keys.database, caller.developerId)).map(wireKey),
    })),
    implement(contract.revokeApiKey, async ({ caller }, { params }) => {
      await keys.revoke(caller.developerId, params.id);
      return { success: true as const };
    }),
    implement(contract.getUsage, async ({ caller }) => ({
      tier: caller.tier,
      usage: await keys.usageOf(caller),
      limits: keys.limitsOf(caller.tier),
    })),
  ];
}
