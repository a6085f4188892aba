/** An answer that is out for two whole ticks is late: after 200 to 300 ms. */
const TICK_MS = 100;

/**
 * Notices that a connection which answers in order has stopped answering. Needs no timer for each question, and is
 * not deceived when this process was busy: between two ticks the event loop reads what has arrived.
 */
export class AnswerWatch {
  readonly #onLate: () => void;
  #asked = 0;
  #answered = 0;
  /** How much had been asked one tick ago, and two. */
  #askedBefore = 0;
  #askedLongBefore = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(onLate: () => void) {
    this.#onLate = onLate;
  }

  ask(): void {
    this.#asked++;
    this.#timer ??= setTimeout(() => this.#tick(), TICK_MS).unref();
  }

  /** Told of every question that was asked, when it was answered or given up. */
  answer(): void {
    this.#answered++;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #tick(): void {
    this.#timer = undefined;
    const isLate = this.#answered < this.#askedLongBefore;
    this.#askedLongBefore = this.#askedBefore;
    this.#askedBefore = this.#asked;
    if (this.#answered < this.#asked) this.#timer = setTimeout(() => this.#tick(), TICK_MS).unref();
    if (isLate) this.#onLate();
  }
}
