import { Int32Column } from './columns.ts';
import { Scratch } from './scratch.ts';
import { countHolders, Postings, scorePostings, type MergedPostings } from './postings.ts';
import { TermTable } from '../../../platform/text/index.ts';

/** How soon further occurrences of a term count less, and how much long chunks are held back; see docs/knowledge.md. */
export interface Bm25 {
  k1: number;
  b: number;
}

const DAMPINGS = new Scratch();
const BM25: Bm25 = { k1: 1.5, b: 0.75 };

/** What an index consists of, to be written to a file and read back. */
export interface WordParts extends MergedPostings {
  hashes: Int32Array;
  lengths: Int32Array;
}

/** Which chunks there are now. */
export interface Living {
  /** By number of the chunk, 1 or 0. */
  isAlive: Uint8Array;
  count: number;
}

/** The words of chunks, which are numbered in the order in which they come. */
export class WordIndex {
  readonly #terms: TermTable;
  readonly #postings: Postings;
  readonly #lengths: Int32Column;
  /** Chunk that a term was last seen in, and where it is counted. */
  #seenIn = new Int32Array(0);
  #countedAt = new Int32Array(0);
  /** Of the chunks that are alive. */
  #totalLength = 0;

  constructor(parts?: WordParts) {
    this.#terms = new TermTable(parts);
    this.#postings = new Postings(parts);
    this.#lengths = new Int32Column(parts?.lengths);
  }

  /** Sets which of the chunks that were read back are alive. */
  restore(isAlive: Uint8Array): void {
    this.#totalLength = 0;
    for (let chunk = 0; chunk < this.count; chunk++) {
      if (isAlive[chunk] === 1) this.#totalLength += this.#lengths.values[chunk] ?? 0;
    }
  }

  get count(): number {
    return this.#lengths.length;
  }

  get bytes(): number {
    return this.#terms.bytes + this.#postings.bytes + 4 * (this.#lengths.values.length + 2 * this.#seenIn.length);
  }

  get needsMerge(): boolean {
    return this.#postings.needsMerge;
  }

  /** Puts new postings in order. One at a time; queries are answered meanwhile. */
  async merge(): Promise<void> {
    if (!this.#postings.isMerged) await this.#postings.merge(this.#terms.count);
  }

  /** Everything, once nothing waits to be merged. */
  parts(): WordParts | undefined {
    if (!this.#postings.isMerged) return undefined;
    return { ...this.#postings.merged, ...this.#terms.parts, lengths: this.#lengths.used.slice() };
  }

  /** Takes in the next chunk. */
  add(terms: readonly string[]): void {
    const chunk = this.#lengths.length;
    for (const term of terms) {
      const no = this.#terms.add(term);
      if (no >= this.#seenIn.length) this.#growSeen(no);
      if (this.#seenIn[no] === chunk + 1) {
        this.#postings.countAgain(this.#countedAt[no] ?? 0);
      } else {
        this.#seenIn[no] = chunk + 1;
        this.#countedAt[no] = this.#postings.add(no, chunk);
      }
    }
    this.#lengths.push(terms.length);
    this.#totalLength += terms.length;
  }

  /** Takes out what a chunk that is gone adds to the average length. */
  drop(chunk: number): void {
    this.#totalLength -= this.#lengths.values[chunk] ?? 0;
  }

  /**
   * BM25 of every chunk that is alive (Robertson and Zaragoza 2009, with the idf of Lucene, which is never negative).
   * Counts of chunks that hold a term are exact: those that are gone are left out. Valid
   * until the next call.
   */
  score(terms: readonly string[], living: Living, { k1, b }: Bm25 = BM25): Float64Array {
    const repeats = new Map<number, number>();
    for (const term of terms) {
      const no = this.#terms.find(term);
      if (no >= 0) repeats.set(no, (repeats.get(no) ?? 0) + 1);
    }
    const wanted = [...repeats.keys()];
    const times = [...repeats.values()];
    const { isAlive, count } = living;
    const selected = this.#postings.select(wanted);
    const held = countHolders(selected, count === this.count ? undefined : isAlive);
    const weights = held.map((n, place) => (times[place] ?? 0) * Math.log(1 + (count - n + 0.5) / (n + 0.5)));
    return scorePostings(selected, { weights, dampings: this.#dampings(living, { k1, b }) });
  }

  #dampings({ isAlive, count }: Living, { k1, b }: Bm25): Float64Array {
    const dampings = DAMPINGS.zeros(this.#lengths.length);
    const lengths = this.#lengths.values;
    const flat = k1 * (1 - b);
    const perLength = (k1 * b * count) / Math.max(this.#totalLength, 1);
    for (let chunk = 0; chunk < dampings.length; chunk++) {
      dampings[chunk] = isAlive[chunk] === 1 ? flat + perLength * (lengths[chunk] ?? 0) : Infinity;
    }
    return dampings;
  }

  #growSeen(no: number): void {
    const capacity = Math.max(1024, 2 * no);
    const seenIn = new Int32Array(capacity);
    const countedAt = new Int32Array(capacity);
    seenIn.set(this.#seenIn);
    countedAt.set(this.#countedAt);
    this.#seenIn = seenIn;
    this.#countedAt = countedAt;
  }
}
