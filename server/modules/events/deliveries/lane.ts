import type { LaneKey } from './claim.store.ts';
import { LEASE_SECONDS, type Consignment } from './delivery.ts';

const FIRST_WINDOW = 8;
const MAX_WINDOW = 64;
/** Deliveries that wait in memory for a receiver that does well. */
export const MAX_WAITING = 256;
/** How long it is remembered that a receiver does badly. */
const MEMORY_MS = 3_600_000;
/** A delivery is not begun so late that its lease could end before its attempt does. */
const LATEST_START_MS = (LEASE_SECONDS - 12) * 1000;

interface Waiting {
  consignment: Consignment;
  /** On the steady clock. */
  startByMs: number;
}

/**
 * What this process has to send to one subscription. Its window, the attempts that may be under way at once, grows with
 * every success and halves with every failure (additive increase, multiplicative decrease, as TCP's): a receiver that
 * hangs soon holds one attempt, and no lane ever waits for another.
 */
export class Lane {
  readonly key: LaneKey;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #window = FIRST_WINDOW;
  #lastEndMs = -Infinity;
  /** The database holds deliveries of this lane that are due and that nobody was given. */
  hasMore = false;

  constructor(key: LaneKey) {
    this.key = key;
  }

  /** Deliveries that can be taken on without one of them waiting too long. */
  get room(): number {
    const isHealthy = this.#window >= FIRST_WINDOW;
    const capacity = isHealthy ? MAX_WAITING : this.#window;
    return Math.max(0, capacity - this.#waiting.length - this.#underWay);
  }

  /** Whether nothing would be lost with this lane. */
  isIdle(nowMs: number): boolean {
    if (this.#underWay > 0 || this.#waiting.length > 0 || this.hasMore) return false;
    return this.#window >= FIRST_WINDOW || nowMs - this.#lastEndMs > MEMORY_MS;
  }

  /** Whether to fetch more: before the last one has gone, so that the receiver need not wait for the database. */
  get wantsMore(): boolean {
    return this.hasMore && this.#waiting.length < this.#window;
  }

  add(consignment: Consignment, nowMs: number): void {
    this.#waiting.push({ consignment, startByMs: nowMs + LATEST_START_MS });
  }

  /** The next delivery to attempt, while there is one and the window is open. */
  next(nowMs: number): Consignment | undefined {
    while (this.#underWay < this.#window) {
      const first = this.#waiting.shift();
      if (!first) return undefined;
      if (first.startByMs < nowMs) {
        // Its lease runs out: it falls due again, here or elsewhere.
        this.hasMore = true;
        continue;
      }
      this.#underWay++;
      return first.consignment;
    }
    return undefined;
  }

  /** To be called when an attempt has ended. */
  ended(hasSucceeded: boolean, nowMs: number): void {
    this.#underWay--;
    this.#lastEndMs = nowMs;
    this.#window = hasSucceeded ? Math.min(MAX_WINDOW, this.#window + 1) : Math.max(1, this.#window >> 1);
  }

  /** Lets go of everything that waits, and gives it. */
  clear(): Consignment[] {
    const cleared = this.#waiting.map(({ consignment }) => consignment);
    this.#waiting = [];
    this.hasMore = false;
    return cleared;
  }
}
