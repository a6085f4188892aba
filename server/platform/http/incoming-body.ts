import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors/index.ts';

const FIRST_BYTES = 64 * 1024;

/** A body that its handler takes in itself while it arrives, into memory of its own. */
export class IncomingBody {
  readonly #message: IncomingMessage;
  readonly #maxBytes: number;

  constructor(message: IncomingMessage, maxBytes: number) {
    this.#message = message;
    this.#maxBytes = maxBytes;
  }

  /**
   * All bytes. `reserve` is told how much further memory is needed before it is used; when it throws, nothing more is
   * kept, and the rest of the body passes by. Throws PAYLOAD_TOO_LARGE beyond what the endpoint accepts.
   */
  async read(reserve: (bytes: number) => void): Promise<Buffer<ArrayBuffer>> {
    const chunks = this.#message.iterator({ destroyOnReturn: false });
    try {
      return await this.#collect(chunks, reserve);
    } finally {
      // So that a client which still sends comes to read its answer.
      this.#message.resume();
    }
  }

  async #collect(chunks: AsyncIterable<Buffer>, reserve: (bytes: number) => void): Promise<Buffer<ArrayBuffer>> {
    const declared = Number(this.#message.headers['content-length'] ?? FIRST_BYTES);
    let size = this.#checked(declared);
    reserve(size);
    // Pages of it become memory as they are written, so what is announced and never sent costs nothing.
    let bytes = Buffer.allocUnsafeSlow(size);
    let length = 0;
    for await (const chunk of chunks) {
      if (length + chunk.length > size) {
        const grown = Math.min(this.#maxBytes, Math.max(2 * size, this.#checked(length + chunk.length)));
        reserve(grown - size);
        const before = bytes;
        bytes = Buffer.allocUnsafeSlow(grown);
        before.copy(bytes, 0, 0, length);
        size = grown;
      }
      length += chunk.copy(bytes, length);
    }
    return bytes.subarray(0, length);
  }

  #checked(bytes: number): number {
    if (bytes <= this.#maxBytes) return bytes;
    throw new AppError('PAYLOAD_TOO_LARGE', 'The body is larger than this endpoint accepts.');
  }
}
