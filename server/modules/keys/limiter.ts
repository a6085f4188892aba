import type { Tier } from '../../../contract/shared/tiers.ts';
import type { Clock } from '../../platform/clock/index.ts';
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
  redis: RedisLimiter | undefined;
}

/**
 * The per-minute and per-day limits of keys. Decides at once from this process's own meters; with Redis, from
 * Redis while it answers. Own meters are kept in step meanwhile, so that losing Redis opens no second allowance.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #meters = new Map<string, KeyMeter>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  /** Begins to meter a key, unless it is metered already. `stored` is its count of the day in the database. */
  open(keyId: string, count: { day: string; stored: number }): void {
    if (this.#meters.has(keyId)) return;
    this.#meters.set(keyId, new KeyMeter(this.#options.clock, count.day, count.stored));
  }

  /** Counts one request of the caller's key, or says why not. */
  spend(caller: Caller): Allowance | Promise<Allowance> {
    const limits = this.#options.limits[caller.tier];
    const meter = this.meter(caller.keyId);
    const { redis } = this.#options;
    return redis?.isReady ? this.#spendShared(redis, caller.keyId, limits) : meter.spend(limits);
  }

  meter(keyId: string): KeyMeter {
    const known = this.#meters.get(keyId);
    if (known) return known;
    // Swept between verification and use: starts from nothing, and from the stored total after the next batch.
    const meter = new KeyMeter(this.#options.clock, '', 0);
    this.#meters.set(keyId, meter);
    return meter;
  }

  limitsOf(tier: Tier): TierLimits {
    return this.#options.limits[tier];
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.#options.redis?.close();
  }

  async #spendShared(redis: RedisLimiter, keyId: string, limits: TierLimits): Promise<Allowance> {
    const meter = this.meter(keyId);
    const shared = await redis.spend({ keyId, limits, knownToday: meter.today });
    if (!shared) return meter.spend(limits);
    if (shared.isAllowed) meter.admit();
    return shared;
  }

  #sweep(): void {
    for (const [keyId, meter] of this.#meters) if (meter.isIdle) this.#meters.delete(keyId);
  }
}
