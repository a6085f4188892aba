import type { LaneKey } from './claim.store.ts';
import { LEASE_SECONDS, type Consignment } from './delivery.ts';

const FIRST_WINDOW = 8;
const MAX_WINDOW = 64;
/** Deliveries that wait in memory for a receiver that does well: what it takes in this time, within these bounds. */
const AHEAD_MS = 5000;
const MIN_WAITING = 256;
const MAX_WAITING = 2048;
/** Characters of bodies that wait in memory, of all lanes; beyond, a lane takes on only what it can begin at once. */
const MAX_WAITING_LENGTH = 64 * 1024 * 1024;
/** What the latest attempt counts in the mean of their durations. */
const LATEST_WEIGHT = 0.1;
/** How long it is remembered that a receiver does badly. */
const MEMORY_MS = 3_600_000;
/** A delivery is not begun so late that its lease could end before its attempt does. */
const LATEST_START_MS = (LEASE_SECONDS - 12) * 1000;

/** How much waits in all lanes that share it. */
export interface WaitingMeter {
  /** Characters of bodies. */
  length: number;
}

/** How an attempt ended. */
interface Ended {
  hasSucceeded: boolean;
  durationMs: number;
}

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
  readonly #meter: WaitingMeter;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #window = FIRST_WINDOW;
  #lastEndMs = -Infinity;
  /** The mean of late; 0 before the first. */
  #durationMs = 0;
  /** The database holds deliveries of this lane that are due and that nobody was given. */
  hasMore = false;

  constructor(key: LaneKey, meter: WaitingMeter) {
    this.key = key;
    this.#meter = meter;
  }

  /** Deliveries that can be taken on without one of them waiting too long. */
  get room(): number {
    const isHealthy = this.#window >= FIRST_WINDOW;
    const capacity = isHealthy && this.#meter.length < MAX_WAITING_LENGTH ? this.#takenInTime() : this.#window;
    return Math.max(0, capacity - this.#waiting.length - this.#underWay);
  }

  #takenInTime(): number {
    const taken = (AHEAD_MS / this.#durationMs) * this.#window;
    return Math.floor(Math.min(MAX_WAITING, Math.max(MIN_WAITING, taken)));
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
    this.#meter.length += consignment.message.body.length;
  }

  /** The next delivery to attempt, while there is one and the window is open. */
  next(nowMs: number): Consignment | undefined {
    while (this.#underWay < this.#window) {
      const first = this.#waiting.shift();
      if (!first) return undefined;
      this.#meter.length -= first.consignment.message.body.length;
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
  ended({ hasSucceeded, durationMs }: Ended, nowMs: number): void {
    this.#underWay--;
    this.#lastEndMs = nowMs;
    const share = this.#durationMs === 0 ? 1 : LATEST_WEIGHT;
    this.#durationMs += (durationMs - this.#durationMs) * share;
    this.#window = hasSucceeded ? Math.min(MAX_WINDOW, this.#window + 1) : Math.max(1, this.#window >> 1);
  }

  /** Lets go of everything that waits, and gives it. */
  clear(): Consignment[] {
    const cleared = this.#waiting.map(({ consignment }) => consignment);
    this.#waiting = [];
    for (const { message } of cleared) this.#meter.length -= message.body.length;
    this.hasMore = false;
    return cleared;
  }
}
