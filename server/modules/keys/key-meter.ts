import { utcDay, type Clock } from '../../platform/clock/index.ts';
import type { Allowance } from '../../platform/http/index.ts';
import { allow, refuseDay, refuseMinute } from './allowance.ts';
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts';
import type { TierLimits } from './tier-limits.ts';

/** A count of a UTC day, YYYY-MM-DD, as the database has it. */
export interface StoredCount {
  day: string;
  total: number;
  /** The newest batch of this process that is in the total. */
  lastBatch: number;
}

/** What one key has used, as this process knows it: exact for its own requests, a batch behind for those of others. */
export class KeyMeter {
  readonly #clock: Clock;
  readonly #window = new SlidingWindow();
  #day: string;
  /** Requests of the day that the database holds, of all processes. */
  #stored: number;
  /** Requests of the day that this process admitted and that are not in `#stored` yet. */
  #unstored = 0;
  /** Likewise, of the day before. */
  #unstoredBefore = 0;
  #settledBatch = 0;
  #usedAtMs: number;

  constructor(clock: Clock, day: string, stored: number) {
    this.#clock = clock;
    this.#day = day;
    this.#stored = stored;
    this.#usedAtMs = clock.steadyMs();
  }

  /** Counts one request, unless that would exceed a limit. */
  spend(limits: TierLimits): Allowance {
    const nowMs = this.#clock.nowMs();
    const steadyMs = Math.floor(this.#clock.steadyMs());
    const refusal = this.#refusalAt(limits, nowMs, steadyMs);
    if (refusal) return refusal;
    this.#window.add(steadyMs);
    this.#unstored++;
    return allow(limits, {
      nowMs,
      inMinute: this.#window.count(steadyMs),
      inDay: this.#stored + this.#unstored,
      waitMs: this.#window.msUntilNextLeaves(steadyMs),
    });
  }

  /** Why the next request would be refused, if it would. */
  refusal(limits: TierLimits): Allowance | undefined {
    return this.#refusalAt(limits, this.#clock.nowMs(), Math.floor(this.#clock.steadyMs()));
  }

  /** Requests of this UTC day. */
  get today(): number {
    this.#turnDay(this.#clock.nowMs());
    return this.#stored + this.#unstored;
  }

  /** Whether dropping this meter would forget nothing that the database does not know. */
  get isIdle(): boolean {
    this.#turnDay(this.#clock.nowMs());
    const isAllStored = this.#unstored === 0 && this.#unstoredBefore === 0;
    return isAllStored && this.#clock.steadyMs() - this.#usedAtMs > WINDOW_MS;
  }

  /** Told after `added` requests of this key reached the database, with the total there. */
  settle({ day, total, lastBatch }: StoredCount, added: number): void {
    this.#turnDay(this.#clock.nowMs());
    this.#settledBatch = lastBatch;
    if (day === this.#day) {
      this.#stored = total;
      this.#unstored = Math.max(0, this.#unstored - added);
      return;
    }
    // The database counts by arrival: a request that arrived before midnight may have been admitted after it.
    const late = Math.max(0, added - this.#unstoredBefore);
    this.#unstoredBefore -= added - late;
    this.#unstored = Math.max(0, this.#unstored - late);
  }

  /** Told a total that was read, and how many requests in it are not settled here yet. */
  learn({ day, total, lastBatch }: StoredCount, unsettled: number): void {
    // What was settled after the reading is newer.
    if (day !== this.#day || lastBatch < this.#settledBatch) return;
    this.#stored = Math.max(this.#stored, total - unsettled);
  }

  #refusalAt(limits: TierLimits, nowMs: number, steadyMs: number): Allowance | undefined {
    this.#turnDay(nowMs);
    this.#usedAtMs = steadyMs;
    if (this.#stored + this.#unstored >= limits.perDay) return refuseDay(limits, nowMs);
    if (this.#window.count(steadyMs) < limits.perMinute) return undefined;
    return refuseMinute(limits, nowMs, this.#window.msUntilBelow(limits.perMinute, steadyMs));
  }

  #turnDay(nowMs: number): void {
    const day = utcDay(nowMs);
    if (day === this.#day) return;
    this.#day = day;
    this.#stored = 0;
    this.#unstoredBefore = this.#unstored;
    this.#unstored = 0;
  }
}
