import { tooLarge } from './outbound-error.ts';

/** A body that comes in one piece gets as much as it needs; of one that goes on, more is expected. */
const SECOND_SIZE = 16 * 1024;

/**
 * Puts bytes together in one buffer that grows as they come. A list of the pieces would do, if the sender did not
 * choose their size: a body sent byte by byte would then take a hundred times its size.
 */
export class ByteCollector {
  readonly #maxBytes: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Throws OutboundError `too_large` when there are more bytes than `maxBytes`. */
  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    if (length > this.#buffer.length) this.#grow(length);
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(needed: number): void {
    const expected = this.#length === 0 ? needed : Math.max(needed, this.#buffer.length * 2, SECOND_SIZE);
    const size = Math.min(this.#maxBytes, expected);
    const grown = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
