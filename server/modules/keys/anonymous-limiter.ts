import type { Clock } from '../../platform/clock/index.ts';
import type { Allowance } from '../../platform/http/index.ts';
import { refusal } from './key-meter.ts';
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts';

/** Addresses remembered at the same time. Beyond it the longest unseen is forgotten, so memory stays bounded. */
const MAX_ADDRESSES = 10_000;

/** The allowance of addresses that send no valid key. */
export class AnonymousLimiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #windows = new Map<string, SlidingWindow>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  spend(address: string, cost: 0 | 1): Allowance {
    const now = Math.floor(this.#clock.steadyMs());
    const window = this.#windows.get(address);
    const used = window?.count(now) ?? 0;
    if (cost === 1) {
      if (used >= this.#perMinute) return this.#refuse(window?.msUntilNextLeaves(now) ?? WINDOW_MS);
      this.#remember(address, window ?? new SlidingWindow()).add(now);
    }
    const waitMs = window?.msUntilNextLeaves(now) ?? WINDOW_MS;
    return {
      isAllowed: true,
      limit: this.#perMinute,
      remaining: Math.max(0, this.#perMinute - used - cost),
      resetAtSeconds: Math.ceil((this.#clock.nowMs() + waitMs) / 1000),
    };
  }

  #refuse(waitMs: number): Allowance {
    const reason = 'Too many requests without a valid API key from this address.';
    return refusal(this.#clock, this.#perMinute, { waitMs, reason });
  }

  /** A Map keeps the order of insertion, so its first entry is the one longest unseen. */
  #remember(address: string, window: SlidingWindow): SlidingWindow {
    this.#windows.delete(address);
    this.#windows.set(address, window);
    const oldest = this.#windows.size > MAX_ADDRESSES ? this.#windows.keys().next().value : undefined;
    if (oldest !== undefined) this.#windows.delete(oldest);
    return window;
  }
}
