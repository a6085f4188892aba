import { matchName, type Match } from './match.ts';

/** Whether a node is wanted at all. */
export type Accepts = (no: number) => boolean;

/** Folded names of nodes as one text, a name on each line: one fast search looks at all of them. */
export class NameText {
  /** With a line break before each name and after the last. */
  readonly #text: string;
  /** Where each name begins, and where the one behind the last would. */
  readonly #starts: Int32Array;
  readonly #nos: Int32Array;

  constructor(names: readonly string[], nos: Int32Array) {
    // Flat, so that a search need not walk through the pieces it was made of.
    this.#text = Buffer.from(`\n${names.join('\n')}\n`).toString();
    this.#nos = nos;
    this.#starts = new Int32Array(names.length + 1);
    let start = 1;
    for (const [line, name] of names.entries()) {
      this.#starts[line] = start;
      start += name.length + 1;
    }
    this.#starts[names.length] = start;
  }

  get bytes(): number {
    return 2 * this.#text.length + 4 * (this.#starts.length + this.#nos.length);
  }

  get lines(): number {
    return this.#nos.length;
  }

  noOf(line: number): number {
    return this.#nos[line] ?? 0;
  }

  nameOf(line: number): string {
    return this.#text.slice(this.#starts[line], (this.#starts[line + 1] ?? 1) - 1);
  }

  /**
   * Nodes whose name holds the folded text: all of them up to `most`; of more than that all whose name is the text, and
   * as many as are counted of those that begin with it, have it as a word, or have it anywhere.
   */
  find(wanted: string, { most, accepts }: { most: number; accepts: Accepts }): Match[] {
    const found = new Map<number, Match>();
    this.#collect(found, { needle: wanted, wanted, most, accepts });
    if (found.size < most) return [...found.values()];
    for (const needle of [`\n${wanted}\n`, `\n${wanted}`, ` ${wanted}`]) {
      this.#collect(found, { needle, wanted, most, accepts });
    }
    return [...found.values()];
  }

  /** All of these lines whose name holds the folded text. */
  findAmong(lines: Iterable<number>, wanted: string, accepts: Accepts): Match[] {
    const found: Match[] = [];
    for (const line of lines) {
      const no = this.noOf(line);
      const match = accepts(no) ? matchName(no, this.nameOf(line), wanted) : undefined;
      if (match !== undefined) found.push(match);
    }
    return found;
  }

  #collect(
    found: Map<number, Match>,
    { needle, wanted, most, accepts }: { needle: string; wanted: string; most: number; accepts: Accepts },
  ): void {
    const shift = needle.indexOf(wanted);
    let line = 0;
    let count = 0;
    for (let at = this.#text.indexOf(needle); at !== -1 && count < most;) {
      const place = at + shift;
      line = this.#lineAt(place, line);
      const no = this.noOf(line);
      const match = accepts(no) ? matchName(no, this.nameOf(line), wanted) : undefined;
      if (match !== undefined) {
        found.set(no, match);
        count++;
      }
      // The line break before the next name is part of some needles.
      at = this.#text.indexOf(needle, (this.#starts[line + 1] ?? 1) - 1);
    }
  }

  /** The line of a place, which is not before the given one. */
  #lineAt(place: number, from: number): number {
    let low = from;
    let step = 1;
    while (low + step < this.#nos.length && (this.#starts[low + step] ?? 0) <= place) {
      low += step;
      step *= 2;
    }
    let high = Math.min(low + step, this.#nos.length) - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
