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

const MOST_BUCKETS = 2 ** 20;

/** FNV-1a, 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/**
 * Which lines hold a term, by the term's hash: 4 bytes for each. Terms that share a bucket cannot be told apart, so a
 * match has to be checked.
 */
export class Postings {
  readonly #starts: Int32Array;
  readonly #lines: Int32Array;

  private constructor(starts: Int32Array, lines: Int32Array) {
    this.#starts = starts;
    this.#lines = lines;
  }

  get bytes(): number {
    return 4 * (this.#starts.length + this.#lines.length);
  }

  /** The lines of a term, in the order they were added; some may be of another term. */
  of(hash: number): Int32Array {
    const bucket = hash & (this.#starts.length - 2);
    return this.#lines.subarray(this.#starts[bucket], this.#starts[bucket + 1]);
  }

  static builder() {
    const hashes = new Column();
    const lines = new Column();
    return {
      add: (hash: number, line: number): void => {
        hashes.push(hash | 0);
        lines.push(line);
      },
      build: (): Postings => {
        let buckets = 1024;
        while (buckets < lines.length && buckets < MOST_BUCKETS) buckets *= 2;
        const starts = new Int32Array(buckets + 1);
        const mask = buckets - 1;
        for (const hash of hashes.values) starts[(hash & mask) + 1] = (starts[(hash & mask) + 1] ?? 0) + 1;
        for (let i = 0; i < buckets; i++) starts[i + 1] = (starts[i + 1] ?? 0) + (starts[i] ?? 0);
        const next = starts.slice();
        const sorted = new Int32Array(lines.length);
        const all = lines.values;
        for (const [i, hash] of hashes.values.entries()) {
          const bucket = hash & mask;
          const place = next[bucket] ?? 0;
          next[bucket] = place + 1;
          sorted[place] = all[i] ?? 0;
        }
        return new Postings(starts, sorted);
      },
    };
  }
}
