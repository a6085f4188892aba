/** Length of the window that per-minute limits look back over. */
export const WINDOW_MS = 60_000;

/** A power of two, as every later size: positions wrap by a mask. */
const INITIAL_SLOTS = 8;

/**
 * The exact log of a sliding minute: how many events happened at each millisecond that had any. At no moment do
 * the last 60 s hold more events than the limit. Needs 16 bytes per distinct millisecond, so at most 1 MB.
 */
export class SlidingWindow {
  #times = new Float64Array(INITIAL_SLOTS);
  #counts = new Float64Array(INITIAL_SLOTS);
  #mask = INITIAL_SLOTS - 1;
  #first = 0;
  #slots = 0;
  #total = 0;

  /** Events in the window that ends now. */
  count(nowMs: number): number {
    const oldestKept = nowMs - WINDOW_MS;
    while (this.#slots > 0 && this.#timeAt(0) <= oldestKept) {
      this.#total -= this.#countAt(0);
      this.#first = (this.#first + 1) & this.#mask;
      this.#slots--;
    }
    return this.#total;
  }

  /** Records an event. `nowMs` is whole milliseconds of a clock that never goes back. */
  add(nowMs: number): void {
    if (this.#slots === 0 || this.#timeAt(this.#slots - 1) !== nowMs) this.#open(nowMs);
    const last = (this.#first + this.#slots - 1) & this.#mask;
    this.#counts[last] = (this.#counts[last] ?? 0) + 1;
    this.#total++;
  }

  /** Milliseconds until the oldest event leaves the window; 0 when it is empty. */
  msUntilNextLeaves(nowMs: number): number {
    return this.count(nowMs) === 0 ? 0 : this.#timeAt(0) + WINDOW_MS - nowMs;
  }

  /** Milliseconds until the window holds fewer events than `limit`, which is 1 or more; 0 when it does already. */
  msUntilBelow(limit: number, nowMs: number): number {
    let excess = this.count(nowMs) - limit;
    if (excess < 0) return 0;
    let position = 0;
    // More than one slot has to leave only after a limit was lowered.
    while (excess >= this.#countAt(position)) excess -= this.#countAt(position++);
    return this.#timeAt(position) + WINDOW_MS - nowMs;
  }

  #timeAt(position: number): number {
    return this.#times[(this.#first + position) & this.#mask] ?? 0;
  }

  #countAt(position: number): number {
    return this.#counts[(this.#first + position) & this.#mask] ?? 0;
  }

  #open(nowMs: number): void {
    if (this.#slots > this.#mask) this.#grow();
    const slot = (this.#first + this.#slots) & this.#mask;
    this.#times[slot] = nowMs;
    this.#counts[slot] = 0;
    this.#slots++;
  }

  #grow(): void {
    const unrolled = (ring: Float64Array): Float64Array<ArrayBuffer> => {
      const larger = new Float64Array(ring.length * 2);
      larger.set(ring.subarray(this.#first));
      larger.set(ring.subarray(0, this.#first), ring.length - this.#first);
      return larger;
    };
    this.#times = unrolled(this.#times);
    this.#counts = unrolled(this.#counts);
    this.#mask = this.#times.length - 1;
    this.#first = 0;
  }
}
