import { LEAST_SIMILAR } from './match.ts';
import type { Postings } from './postings.ts';

/** Lines that are few enough to look at their names. */
const FEW_LINES = 100;

/** What a whole number of pairs may come out above it: 0.6 * 7 / 1.4 is 3.0000000000000004. */
const ROUNDING = 1e-9;

/** Pairs of characters of many names: tells which names can hold a text, and which share most of its pairs. */
export class NamePairs {
  readonly #pairs: Postings;
  /** How many pairs each name has. */
  readonly #sizes: Uint16Array;
  /** How many of them the text has as well; used again by each search. */
  readonly #shared: Uint16Array;

  constructor(pairs: Postings, sizes: Uint16Array) {
    this.#pairs = pairs;
    this.#sizes = sizes;
    this.#shared = new Uint16Array(sizes.length);
  }

  get bytes(): number {
    return this.#pairs.bytes + this.#sizes.byteLength + this.#shared.byteLength;
  }

  /** Lines whose names have most of these pairs, among them every name that holds the text they are of. */
  mayHold(wanted: ReadonlySet<string>): Int32Array | number[] {
    const [rarest = [], ...others] = this.#listsOf(wanted);
    const shared = this.#shared.fill(0);
    for (const line of rarest) shared[line] = 1;
    let lines: Int32Array | number[] = rarest;
    for (const [before, list] of others.entries()) {
      // To look at a few names costs less than to walk through the long lists, which come last.
      if (lines.length <= FEW_LINES) break;
      const left: number[] = [];
      for (let i = 0; i < list.length; i++) {
        const line = list[i] ?? 0;
        if (shared[line] !== before + 1) continue;
        shared[line] = before + 2;
        left.push(line);
      }
      lines = left;
    }
    return lines;
  }

  /**
   * Visits each line whose name is similar to the text of these pairs, with Dice's coefficient; without it one that is
   * not, but has so many of the pairs that some of its words may be.
   */
  eachSimilar(wanted: ReadonlySet<string>, visit: (line: number, share: number | undefined) => void): void {
    for (const line of this.#sharing(wanted)) {
      const shared = this.#shared[line] ?? 0;
      const share = (2 * shared) / (wanted.size + (this.#sizes[line] ?? 0));
      if (share >= LEAST_SIMILAR) visit(line, share);
      else if (shared >= LEAST_SIMILAR * wanted.size) visit(line, undefined);
    }
  }

  /** Lines that share so many pairs that they would be similar if they had no others. */
  #sharing(wanted: ReadonlySet<string>): number[] {
    const shared = this.#shared.fill(0);
    const least = Math.ceil((LEAST_SIMILAR * wanted.size) / (2 - LEAST_SIMILAR) - ROUNDING);
    const lines: number[] = [];
    for (const list of this.#listsOf(wanted)) {
      for (let i = 0; i < list.length; i++) {
        const line = list[i] ?? 0;
        const count = (shared[line] ?? 0) + 1;
        shared[line] = count;
        if (count === least) lines.push(line);
      }
    }
    return lines;
  }

  /** The lines of each pair, the rarest first. */
  #listsOf(wanted: ReadonlySet<string>): Int32Array[] {
    return Array.from(wanted, (pair) => this.#pairs.of(pair)).toSorted((a, b) => a.length - b.length);
  }
}
