import { nextUtcMidnightMs, utcDay, type Clock } from '../../platform/clock/index.ts';
import type { Allowance } from '../../platform/http/index.ts';
import { SlidingWindow } from './sliding-window.ts';
import type { TierLimits } from './tier-limits.ts';

/** What one key has used, as this process knows it: exact for its own requests, a batch behind for those of others. */
export class KeyMeter {
  readonly #clock: Clock;
  readonly #window = new SlidingWindow();
  #day: string;
  /** Requests of the day that the database holds, of all processes. */
  #stored: number;
  /** Requests of the day that this process admitted and that are not in `#stored` yet. */
  #unstored = 0;

  constructor(clock: Clock, day: string, stored: number) {
    this.#clock = clock;
    this.#day = day;
    this.#stored = stored;
  }

  /** Counts one request, unless that would exceed a limit. */
  spend(limits: TierLimits): Allowance {
    this.#turnDay();
    const now = Math.floor(this.#clock.steadyMs());
    const inWindow = this.#window.count(now);
    if (this.today >= limits.perDay) return this.#refuseDay(limits);
    if (inWindow >= limits.perMinute) return this.#refuseMinute(limits, now);
    this.admit(now);
    const remaining = Math.min(limits.perMinute - inWindow - 1, limits.perDay - this.today);
    const resetAtMs = this.#clock.nowMs() + this.#window.msUntilNextLeaves(now);
    return { isAllowed: true, limit: limits.perMinute, remaining, resetAtSeconds: Math.ceil(resetAtMs / 1000) };
  }

  /** Records a request that somebody else decided to allow. */
  admit(steadyMs: number = Math.floor(this.#clock.steadyMs())): void {
    this.#turnDay();
    this.#window.add(steadyMs);
    this.#unstored++;
  }

  /** Requests of this UTC day. */
  get today(): number {
    return this.#stored + this.#unstored;
  }

  /** Requests of this UTC day that are in the database only later. */
  get unstored(): number {
    return this.#unstored;
  }

  /** Whether nothing would be forgotten by dropping this meter. */
  get isIdle(): boolean {
    return this.#unstored === 0 && this.#window.count(Math.floor(this.#clock.steadyMs())) === 0;
  }

  /** Told after a batch of this key's requests reached the database, with the total there. */
  settle(stored: { day: string; added: number; total: number }): void {
    this.#turnDay();
    if (stored.day !== this.#day) return;
    this.#unstored -= Math.min(stored.added, this.#unstored);
    this.#stored = stored.total;
  }

  #turnDay(): void {
    const day = utcDay(this.#clock.nowMs());
    if (day === this.#day) return;
    this.#day = day;
    this.#stored = 0;
    this.#unstored = 0;
  }

  #refuseMinute(limits: TierLimits, now: number): Allowance {
    return refusal(this.#clock, limits.perMinute, {
      waitMs: this.#window.msUntilNextLeaves(now),
      reason: `The limit of ${limits.perMinute} requests per minute is used up.`,
    });
  }

  #refuseDay(limits: TierLimits): Allowance {
    const nowMs = this.#clock.nowMs();
    return refusal(this.#clock, limits.perMinute, {
      waitMs: nextUtcMidnightMs(nowMs) - nowMs,
      reason: `The limit of ${limits.perDay} requests per day is used up.`,
    });
  }
}

/** The refusal that all meters give. */
export function refusal(clock: Clock, limit: number, why: { waitMs: number; reason: string }): Allowance {
  return {
    isAllowed: false,
    limit,
    remaining: 0,
    resetAtSeconds: Math.ceil((clock.nowMs() + why.waitMs) / 1000),
    retryAfterSeconds: Math.max(1, Math.ceil(why.waitMs / 1000)),
    refusal: why.reason,
  };
}
