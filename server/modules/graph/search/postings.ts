import { setImmediate as nextTurn } from 'node:timers/promises';
import { TermTable } from '../../../platform/text/index.ts';

/** Entries that are sorted at once while others wait: some milliseconds. */
const ENTRIES_AT_ONCE = 2 ** 19;
const NONE = new Int32Array(0);

/** A list of integers that grows. */
class Column {
  #values = new Int32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = new Int32Array(2 * this.length);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.length++] = value;
  }

  get values(): Int32Array {
    return this.#values.subarray(0, this.length);
  }
}

/** Whether lines in order hold one of them. */
export function holdsLine(lines: Int32Array, wanted: number): boolean {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return lines[low] === wanted;
}

/** Which lines hold a term: 4 bytes for each. */
export class Postings {
  readonly #terms: TermTable;
  readonly #starts: Int32Array;
  readonly #lines: Int32Array;

  constructor(terms: TermTable, { starts, lines }: { starts: Int32Array; lines: Int32Array }) {
    this.#terms = terms;
    this.#starts = starts;
    this.#lines = lines;
  }

  get bytes(): number {
    return this.#terms.bytes + 4 * (this.#starts.length + this.#lines.length);
  }

  /** The lines of a term, in order. */
  of(term: string): Int32Array {
    const number = this.#terms.find(term);
    return number === -1 ? NONE : this.#lines.subarray(this.#starts[number], this.#starts[number + 1]);
  }
}

/** Takes terms with their lines, then makes the lists. */
export class PostingsBuilder {
  readonly #terms = new TermTable();
  readonly #numbers = new Column();
  readonly #lines = new Column();

  /** Each term of a line once; lines in order. */
  add(term: string, line: number): void {
    this.#numbers.push(this.#terms.add(term));
    this.#lines.push(line);
  }

  /** Bytes of what will be made. */
  get bytes(): number {
    return this.#terms.bytes + 4 * (this.#terms.count + this.#lines.length);
  }

  async build(): Promise<Postings> {
    const starts = new Int32Array(this.#terms.count + 1);
    const numbers = this.#numbers.values;
    for (let i = 0; i < numbers.length; i++) {
      const after = (numbers[i] ?? 0) + 1;
      starts[after] = (starts[after] ?? 0) + 1;
    }
    await nextTurn();
    for (let i = 0; i < this.#terms.count; i++) starts[i + 1] = (starts[i + 1] ?? 0) + (starts[i] ?? 0);
    const next = starts.slice();
    const lines = new Int32Array(numbers.length);
    const all = this.#lines.values;
    for (let from = 0; from < numbers.length; from += ENTRIES_AT_ONCE) {
      for (let i = from; i < Math.min(numbers.length, from + ENTRIES_AT_ONCE); i++) {
        const number = numbers[i] ?? 0;
        const place = next[number] ?? 0;
        next[number] = place + 1;
        lines[place] = all[i] ?? 0;
      }
      await nextTurn();
    }
    return new Postings(this.#terms, { starts, lines });
  }
}
