import type { Logger } from 'pino';
import { systemClock, type Clock } from '../../platform/clock/index.ts';
import { notifyChange, type ChangeFeed, type Database } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import type { CallRecord, Caller, Gatekeeper } from '../../platform/http/index.ts';
import { isId } from '../../platform/ids/index.ts';
import { AnonymousLimiter } from './anonymous-limiter.ts';
import { bootstrap, type Bootstrap } from './bootstrap.ts';
import { followCustomKeys } from './custom-keys.ts';
import type { OnDailyUse } from './daily-use.ts';
import { findEnabledDeveloper } from './developer.store.ts';
import { disableKey } from './key.store.ts';
import type { KeySettings } from './keys.settings.ts';
import { Limiter } from './limiter.ts';
import { readUsage, type Usage } from './read-usage.ts';
import { RedisLimiter } from './redis-limiter.ts';
import { tierLimits } from './tier-limits.ts';
import { UsageLedger } from './usage-ledger.ts';
import { createVerifier, KEYS_TOPIC } from './verify-key.ts';

export interface KeysOptions {
  database: Database;
  changes: ChangeFeed;
  settings: KeySettings;
  log: Logger;
  clock?: Clock;
  /** Told of keys that reach 80% and 100% of their daily requests. */
  onDailyUse?: OnDailyUse;
}

/** Keys, limits and usage as one running part of the service. */
export interface Keys {
  gate: Gatekeeper;
  recordCall: (call: CallRecord) => void;
  firstStart: Bootstrap;
  database: Database;
  revoke: (developerId: string, id: string) => Promise<void>;
  usageOf: (caller: Caller) => Promise<Usage>;
  limitsOf: Limiter['limitsOf'];
  /** In whose name the service works for a developer when no key asked; undefined when they are switched off. */
  callerOf: (developerId: string) => Promise<Caller | undefined>;
  forget: (keyHash: string) => void;
  /** Writes what is not written yet and lets go of everything. */
  close: () => Promise<void>;
}

async function openLimiter({ settings, log, clock = systemClock }: KeysOptions): Promise<Limiter> {
  const url = settings.REDIS_URL;
  const redis = url === undefined ? undefined : await RedisLimiter.open({ url, clock, log });
  return new Limiter({ clock, limits: tierLimits(settings), redis });
}

async function revoke(database: Database, developerId: string, id: string): Promise<string> {
  return database.transaction(async (tx) => {
    const keyHash = isId('key', id) ? await disableKey(tx, developerId, id) : undefined;
    if (keyHash === undefined) throw new AppError('NOT_FOUND', `There is no API key "${id}".`);
    await notifyChange(tx, KEYS_TOPIC, keyHash);
    return keyHash;
  });
}

/** Opens the module: creates the first developer where there is none, connects to Redis where there is one. */
export async function createKeys(options: KeysOptions): Promise<Keys> {
  const { database, changes, settings, log, clock = systemClock, onDailyUse = () => Promise.resolve() } = options;
  const given = { key: settings.BOOTSTRAP_API_KEY?.reveal(), tier: settings.BOOTSTRAP_TIER };
  const firstStart = await bootstrap(database, given);
  const limiter = await openLimiter(options);
  const anonymous = new AnonymousLimiter(clock, settings.ANONYMOUS_PER_MINUTE);
  const customKeyHashes = await followCustomKeys({ database, changes, log });
  const verifier = createVerifier({ database, changes, limiter, clock, customKeyHashes });
  const ledger = await UsageLedger.open({ database, limiter, log, onDailyUse });
  return {
    gate: {
      identify: verifier.identify,
      spend: (caller) => limiter.spend(caller),
      spendAnonymous: (address, cost) => anonymous.spend(address, cost),
    },
    recordCall: (call) => ledger.record(call),
    firstStart,
    database,
    revoke: async (developerId, id) => verifier.forget(await revoke(database, developerId, id)),
    usageOf: (caller) => readUsage({ database, limiter, ledger, clock }, caller),
    limitsOf: (tier) => limiter.limitsOf(tier),
    callerOf: async (developerId) => {
      const developer = await findEnabledDeveloper(database, developerId);
      return (
        developer && { keyId: '', developerId, permissions: ['read', 'write'], tier: developer.tier, isOperator: false }
      );
    },
    forget: verifier.forget,
    close: async () => {
      await ledger.close();
      await limiter.close();
    },
  };
}
