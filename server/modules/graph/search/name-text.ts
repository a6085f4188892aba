/** How a name matches, the best first. */
const EXACT = 0;
const PREFIX = 1;
const WORD = 2;
const INSIDE = 3;

/** A node that matches; the lowest rank first, then the lowest tie. */
export interface Match {
  no: number;
  rank: number;
  tie: number;
}

const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/** How a folded text stands in a folded name; undefined when it does not. */
export function matchName(
  name: string,
  wanted: string,
  at = name.indexOf(wanted),
): { rank: number; tie: number } | undefined {
  if (at === -1) return undefined;
  const tie = name.length;
  if (at === 0) return { rank: name.length === wanted.length ? EXACT : PREFIX, tie };
  return { rank: WORD_CHARACTER.test(name.charAt(at - 1)) ? INSIDE : WORD, tie };
}

/** Folded names of nodes as one text, a name on each line: one fast search looks at all of them. */
export class NameText {
  readonly #text: string;
  readonly #starts: Int32Array;
  readonly #nos: Int32Array;

  constructor(names: readonly string[], nos: Int32Array) {
    // Flat, so that a search need not walk through the pieces it was made of.
    this.#text = Buffer.from(`${names.join('\n')}\n`).toString();
    this.#nos = nos;
    this.#starts = new Int32Array(names.length + 1);
    let start = 0;
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

  /** Nodes whose name holds the folded text, not more than `most`. */
  find(wanted: string, most: number): Match[] {
    const found: Match[] = [];
    for (let at = this.#text.indexOf(wanted); at !== -1 && found.length < most;) {
      const line = this.#lineAt(at);
      const match = matchName(this.nameOf(line), wanted, at - (this.#starts[line] ?? 0));
      if (match) found.push({ no: this.noOf(line), ...match });
      at = this.#text.indexOf(wanted, this.#starts[line + 1] ?? this.#text.length);
    }
    return found;
  }

  #lineAt(offset: number): number {
    let low = 0;
    let high = this.#nos.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
