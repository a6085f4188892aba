/** Steps between two looks of the event loop at what else has come; one takes less than 0.1 ms of it. */
const PER_TURN = 4;

/**
 * Spreads what many runs have to do over the turns of the event loop, so that a request which comes meanwhile waits for
 * a few steps and not for hundreds. Where little happens nobody waits.
 */
export class Turns {
  #left = PER_TURN;
  #isTurning = false;
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn, in the order of calls. */
  next(): Promise<void> {
    this.#turnLater();
    if (this.#left > 0) {
      this.#left--;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #turnLater(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    setImmediate(() => {
      this.#isTurning = false;
      const now = this.#waiting.splice(0, PER_TURN);
      this.#left = PER_TURN - now.length;
      if (this.#waiting.length > 0) this.#turnLater();
      for (const resolve of now) resolve();
    });
  }
}
