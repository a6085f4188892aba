const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** Bytes that a character of a text takes at most: an escape. */
const CHARACTER_BYTES = 6;
const FIRST_BYTES = 16 * 1024;

/** What stands in JSON as it is: bytes of a constant. */
export function constant(text: string): Uint8Array {
  return Buffer.from(text);
}

/**
 * Writes JSON as bytes. An answer of hundreds of kilobytes is sent several times as fast as an object of as many parts,
 * and texts that are JSON already need not be read.
 */
export class JsonWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  /** Where the next byte will stand. */
  get length(): number {
    return this.#length;
  }

  /** Everything that was written. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    const target = this.#bytes;
    let at = this.#length;
    // For some dozens of bytes a loop is faster than a call.
    for (let i = 0; i < bytes.length; i++) target[at++] = bytes[i] ?? 0;
    this.#length = at;
  }

  /** A text that is JSON. */
  json(text: string): void {
    this.#reserve(3 * text.length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** A text as a JSON string. */
  string(text: string): void {
    this.#reserve(CHARACTER_BYTES * text.length + 2);
    const target = this.#bytes;
    let at = this.#length;
    target[at++] = QUOTE;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) {
        this.json(JSON.stringify(text));
        return;
      }
      target[at++] = code;
    }
    target[at++] = QUOTE;
    this.#length = at;
  }

  /** What stands between two places, once more. */
  again(from: number, to: number): void {
    this.#reserve(to - from);
    this.#bytes.copyWithin(this.#length, from, to);
    this.#length += to - from;
  }

  /** Each item as `write` does, with commas between them. */
  list<T>(items: Iterable<T>, write: (item: T) => void): void {
    let isFirst = true;
    for (const item of items) {
      if (!isFirst) this.comma();
      isFirst = false;
      write(item);
    }
  }

  comma(): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = COMMA;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + size));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
