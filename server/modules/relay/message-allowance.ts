/** How much an agent may send without being asked: a bucket that fills again slowly. */
export class MessageAllowance {
  readonly #size: number;
  readonly #perSecond: number;
  #left: number;
  #atMs: number;

  constructor(options: { size: number; perSecond: number }, nowMs: number) {
    this.#size = options.size;
    this.#perSecond = options.perSecond;
    this.#left = options.size;
    this.#atMs = nowMs;
  }

  /** Takes one out; false when there is none. `nowMs` is of a steady clock. */
  take(nowMs: number): boolean {
    this.#left = Math.min(this.#size, this.#left + ((nowMs - this.#atMs) / 1000) * this.#perSecond);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
