const FIRST_SLOTS = 1024;
const NONE = -1;

/** What a table consists of, to be written to a file and read back. */
export interface TermTableParts {
  /** Two hashes of each term, by number. */
  hashes: Int32Array;
}

/**
 * Numbers for terms, by 64 bits of hash and without the text: about 24 bytes a term instead of 100. That two of a
 * million terms share all 64 bits has a chance of 1 in 40 million.
 */
export class TermTable {
  #hashes: Int32Array;
  #count: number;
  /** Numbers of terms by hash, open addressing. */
  #slots: Int32Array;
  #first = 0;
  #second = 0;

  constructor(parts?: TermTableParts) {
    this.#hashes = parts?.hashes ?? new Int32Array(2 * FIRST_SLOTS);
    this.#count = parts ? parts.hashes.length / 2 : 0;
    this.#slots = new Int32Array(0);
    this.#buildSlots(Math.max(2 * FIRST_SLOTS, 2 ** Math.ceil(Math.log2(2 * this.#count + 1))));
  }

  get count(): number {
    return this.#count;
  }

  get parts(): TermTableParts {
    return { hashes: this.#hashes.subarray(0, 2 * this.#count) };
  }

  get bytes(): number {
    return 4 * (this.#hashes.length + this.#slots.length);
  }

  /** The number of a term, or -1 when no text has it. */
  find(term: string): number {
    this.#hash(term);
    return this.#slots[this.#slotOf()] ?? NONE;
  }

  /** The number of a term, given now if need be. */
  add(term: string): number {
    this.#hash(term);
    const slot = this.#slotOf();
    const known = this.#slots[slot] ?? NONE;
    if (known !== NONE) return known;
    const no = this.#count++;
    if (2 * no === this.#hashes.length) {
      const grown = new Int32Array(4 * no);
      grown.set(this.#hashes);
      this.#hashes = grown;
    }
    this.#hashes[2 * no] = this.#first;
    this.#hashes[2 * no + 1] = this.#second;
    this.#slots[slot] = no;
    if (2 * this.#count > this.#slots.length) this.#buildSlots(2 * this.#slots.length);
    return no;
  }

  /** FNV-1a, and a multiplicative hash of its own, each with the last step of MurmurHash3 to spread its bits. */
  #hash(term: string): void {
    let first = 0x811c9dc5;
    let second = 0x9747b28c;
    for (let i = 0; i < term.length; i++) {
      const code = term.charCodeAt(i);
      first = Math.imul(first ^ code, 0x01000193);
      second = Math.imul((second ^ code) + (second >>> 15), 0x5bd1e995);
    }
    this.#first = spread(first);
    this.#second = spread(second);
  }

  #slotOf(): number {
    const mask = this.#slots.length - 1;
    for (let slot = this.#first & mask; ; slot = (slot + 1) & mask) {
      const no = this.#slots[slot] ?? NONE;
      if (no === NONE) return slot;
      if (this.#hashes[2 * no] === this.#first && this.#hashes[2 * no + 1] === this.#second) return slot;
    }
  }

  #buildSlots(size: number): void {
    this.#slots = new Int32Array(size).fill(NONE);
    const mask = size - 1;
    for (let no = 0; no < this.#count; no++) {
      let slot = (this.#hashes[2 * no] ?? 0) & mask;
      while (this.#slots[slot] !== NONE) slot = (slot + 1) & mask;
      this.#slots[slot] = no;
    }
  }
}

function spread(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
