import type { Clock } from '../../platform/clock/index.ts';
import type { Allowance } from '../../platform/http/index.ts';
import { addressGroup } from './address-group.ts';
import { refuse } from './allowance.ts';
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts';

/** Groups remembered at the same time. Beyond it the longest unseen is forgotten, so memory stays bounded. */
const MAX_GROUPS = 10_000;

/** The allowance of addresses that send no valid key. */
export class AnonymousLimiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #windows = new Map<string, SlidingWindow>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Groups that are remembered now. */
  get size(): number {
    return this.#windows.size;
  }

  spend(address: string, cost: 0 | 1): Allowance {
    const nowMs = this.#clock.nowMs();
    const steadyMs = Math.floor(this.#clock.steadyMs());
    const group = addressGroup(address);
    const window = cost === 1 ? this.#see(group, steadyMs) : this.#windows.get(group);
    const used = window?.count(steadyMs) ?? 0;
    if (cost === 1 && used >= this.#perMinute) {
      const waitMs = window?.msUntilBelow(this.#perMinute, steadyMs) ?? WINDOW_MS;
      const reason = 'Too many requests without a valid API key from this address.';
      return refuse(this.#perMinute, { nowMs, waitMs, reason });
    }
    if (cost === 1) window?.add(steadyMs);
    const waitMs = window?.msUntilNextLeaves(steadyMs) ?? WINDOW_MS;
    return {
      isAllowed: true,
      limit: this.#perMinute,
      remaining: Math.max(0, this.#perMinute - used - cost),
      resetAtSeconds: Math.ceil((nowMs + waitMs) / 1000),
    };
  }

  /** A Map keeps the order of insertion, so its first entries are those longest unseen. */
  #see(group: string, steadyMs: number): SlidingWindow {
    const window = this.#windows.get(group) ?? new SlidingWindow();
    this.#windows.delete(group);
    this.#windows.set(group, window);
    // Two for each that may have come, so that what a flood of addresses left behind goes.
    this.#forgetOldest(steadyMs);
    this.#forgetOldest(steadyMs);
    return window;
  }

  #forgetOldest(steadyMs: number): void {
    if (this.#windows.size < 2) return;
    const [oldest] = this.#windows;
    if (oldest && (this.#windows.size > MAX_GROUPS || oldest[1].count(steadyMs) === 0)) this.#windows.delete(oldest[0]);
  }
}
