import type { Tier } from '../../../contract/shared/tiers.ts';
import { utcDay, type Clock } from '../../platform/clock/index.ts';
import type { Allowance, Caller } from '../../platform/http/index.ts';
import { KeyMeter } from './key-meter.ts';
import type { RedisLimiter } from './redis-limiter.ts';
import type { TierLimits } from './tier-limits.ts';

/** How often meters of keys that nobody uses are dropped. */
const SWEEP_MS = 120_000;

export interface LimiterOptions {
  clock: Clock;
  limits: Record<Tier, TierLimits>;
  /** Makes the limits exact across processes while it is reachable. */
  redis: Pick<RedisLimiter, 'isReady' | 'spend' | 'close'> | undefined;
}

/**
 * The per-minute and per-day limits of keys. Decides at once from this process's own meters; with Redis, only what
 * Redis allows too. The own meters count everything that this process admits, so that losing Redis, or Redis losing
 * its data, opens no second allowance here.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #meters = new Map<string, KeyMeter>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  /** Begins to meter a key, unless it is metered already. `stored` is its count of the day in the database. */
  open(keyId: string, count: { day: string; stored: number }): void {
    if (this.#meters.has(keyId)) return;
    this.#meters.set(keyId, new KeyMeter(this.#options.clock, count.day, count.stored));
  }

  /** The meter of a key; undefined when it was never opened, or not used for long: then the database knows more. */
  meter(keyId: string): KeyMeter | undefined {
    return this.#meters.get(keyId);
  }

  /** Counts one request of the caller's key, or says why not. */
  spend({ keyId, tier }: Caller): Allowance | Promise<Allowance> {
    const limits = this.#options.limits[tier];
    const meter = this.#meters.get(keyId) ?? this.#openUnknown(keyId);
    const { redis } = this.#options;
    return redis?.isReady ? spendShared(redis, meter, { keyId, limits }) : meter.spend(limits);
  }

  limitsOf(tier: Tier): TierLimits {
    return this.#options.limits[tier];
  }

  /** Drops the meters of keys that nobody used for a minute. */
  sweep(): void {
    for (const [keyId, meter] of this.#meters) if (meter.isIdle) this.#meters.delete(keyId);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.#options.redis?.close();
  }

  /** Callers are verified first, which opens their meter; one that is not knows the day's count after a batch. */
  #openUnknown(keyId: string): KeyMeter {
    const { clock } = this.#options;
    const meter = new KeyMeter(clock, utcDay(clock.nowMs()), 0);
    this.#meters.set(keyId, meter);
    return meter;
  }
}

async function spendShared(
  redis: Pick<RedisLimiter, 'spend'>,
  meter: KeyMeter,
  key: { keyId: string; limits: TierLimits },
): Promise<Allowance> {
  // What this process admitted alone fills the limit: nothing that Redis says could allow more.
  const refusal = meter.refusal(key.limits);
  if (refusal) return refusal;
  const shared = await redis.spend({ ...key, knownToday: meter.today });
  if (shared && !shared.isAllowed) return shared;
  const own = meter.spend(key.limits);
  return shared && own.isAllowed && shared.remaining <= own.remaining ? shared : own;
}
