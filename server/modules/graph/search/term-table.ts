const FIRST_SLOTS = 1024;

/**
 * Numbers of terms, from 0 up, by 64 bits of hash: 12 bytes a slot, and no text is kept. Two terms of a million share a
 * number with a probability of one in some ten million.
 */
export class TermTable {
  #high = new Uint32Array(FIRST_SLOTS);
  #low = new Uint32Array(FIRST_SLOTS);
  /** The number plus one; 0 where a slot is free. */
  #numbers = new Int32Array(FIRST_SLOTS);
  size = 0;

  get bytes(): number {
    return 12 * this.#numbers.length;
  }

  /** The number of a term; undefined when it was never added. */
  find(term: string): number | undefined {
    const number = this.#numbers[this.#slotOf(hashText(term, HIGH_SEED), hashText(term, LOW_SEED))] ?? 0;
    return number === 0 ? undefined : number - 1;
  }

  /** The number of a term, which it is given when it has none. */
  add(term: string): number {
    const high = hashText(term, HIGH_SEED);
    const low = hashText(term, LOW_SEED);
    const slot = this.#slotOf(high, low);
    const known = this.#numbers[slot] ?? 0;
    if (known !== 0) return known - 1;
    this.#put(slot, { high, low, number: ++this.size });
    if (2 * this.size > this.#numbers.length) this.#grow();
    return this.size - 1;
  }

  #put(slot: number, { high, low, number }: { high: number; low: number; number: number }): void {
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#numbers[slot] = number;
  }

  /** Where a term is, or the free slot where it belongs. */
  #slotOf(high: number, low: number): number {
    const mask = this.#numbers.length - 1;
    let slot = low & mask;
    while (this.#numbers[slot] !== 0 && (this.#high[slot] !== high || this.#low[slot] !== low))
      slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [highs, lows, numbers] = [this.#high, this.#low, this.#numbers];
    this.#high = new Uint32Array(2 * numbers.length);
    this.#low = new Uint32Array(2 * numbers.length);
    this.#numbers = new Int32Array(2 * numbers.length);
    for (const [i, number] of numbers.entries()) {
      if (number === 0) continue;
      const [high, low] = [highs[i] ?? 0, lows[i] ?? 0];
      this.#put(this.#slotOf(high, low), { high, low, number });
    }
  }
}

const LOW_SEED = 0x811c9dc5;
const HIGH_SEED = 0x2f0b4a87;

/** FNV-1a over the characters with the last step of MurmurHash3, 32 bits; another seed makes another hash. */
function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16) ^ seed, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
