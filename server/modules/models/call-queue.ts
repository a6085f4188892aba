import { AppError } from '../../platform/errors/index.ts';

/** Calls of the first class go before all of the second. */
export type Priority = 'high' | 'normal';

interface Waiter {
  admit: () => void;
}

const MAX_WAITING = 10_000;

/** Gives back a slot. Further calls do nothing. */
export type Release = () => void;

/**
 * Bounds the calls to vendors that are under way at a time. When all slots are taken, calls wait: those of high
 * priority go first, and within a class the one that has waited longest.
 */
export class CallQueue {
  readonly #slots: number;
  readonly #maxWaiting: number;
  // Sets keep the order of arrival and let a waiter leave from the middle at no cost.
  readonly #waiters: Record<Priority, Set<Waiter>> = { high: new Set(), normal: new Set() };
  #inFlight = 0;

  constructor(slots: number, maxWaiting: number = MAX_WAITING) {
    this.#slots = slots;
    this.#maxWaiting = maxWaiting;
  }

  /** Calls that hold a slot. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls that wait for one. */
  get waiting(): number {
    return this.#waiters.high.size + this.#waiters.normal.size;
  }

  /**
   * Takes a slot, waiting if need be. Throws AppError UNAVAILABLE when too many wait already, and the signal's reason
   * when it is aborted first.
   */
  async acquire(priority: Priority, signal: AbortSignal): Promise<Release> {
    signal.throwIfAborted();
    if (this.#inFlight < this.#slots) this.#inFlight++;
    else await this.#wait(priority, signal);
    return this.#releaseOnce();
  }

  async #wait(priority: Priority, signal: AbortSignal): Promise<void> {
    if (this.waiting >= this.#maxWaiting) {
      throw new AppError('UNAVAILABLE', 'Too many AI calls are waiting; try again shortly.', { retryAfterSeconds: 5 });
    }
    const waiters = this.#waiters[priority];
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiters.delete(waiter);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiter: Waiter = { admit };
      waiters.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #releaseOnce(): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#passOn();
    };
  }

  /** Hands the slot to the next in line, so that nobody who arrives in between can take it. */
  #passOn(): void {
    for (const waiters of [this.#waiters.high, this.#waiters.normal]) {
      for (const waiter of waiters) {
        waiters.delete(waiter);
        waiter.admit();
        return;
      }
    }
    this.#inFlight--;
  }
}
