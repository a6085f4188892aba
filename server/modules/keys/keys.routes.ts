import * as contract from '../../../contract/routes/keys.ts';
import { implement, type Route } from '../../platform/http/index.ts';
import { createKey, refuseEscalation } from './create-key.ts';
import { keepTier } from './developer.store.ts';
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
      const { developerId } = caller;
      return keys.database.transaction(async (tx) => {
        // The caller's own may be a moment old, and a new tier must reach this key too.
        const tier = (await keepTier(tx, developerId)) ?? caller.tier;
        return createKey(tx, { developerId, tier, name: body.name, permissions: body.permissions });
      });
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
