/** Memory for the numbers of one question, used again for the next: ranking does not wait for anything in between. */
export class Scratch {
  #floats = new Float64Array(0);

  /** Zeros; valid until the next call. */
  zeros(length: number): Float64Array {
    if (this.#floats.length < length) {
      this.#floats = new Float64Array(Math.max(length, 2 * this.#floats.length));
      return this.#floats.subarray(0, length);
    }
    return this.#floats.subarray(0, length).fill(0);
  }
}
