import type { AnswerBody } from '../../platform/net/index.ts';

const DRAIN_MS = 2_000;
const DRAIN_BYTES = 64 * 1024;

/** Reads a vendor's body on demand, so that a slow consumer slows the vendor down, and no further than a bound. */
export class BodyReader {
  readonly #body: AnswerBody;
  readonly #maxBytes: number;
  #bytesRead = 0;

  constructor(body: AnswerBody, maxBytes: number) {
    this.#body = body;
    this.#maxBytes = maxBytes;
  }

  /** Whether `take` will never give bytes again. */
  get isEnded(): boolean {
    return this.#body.isEnded;
  }

  /** The bytes that are there, or undefined. Throws the connection's error, or when the body is too large. */
  take(): Buffer | undefined {
    const bytes = this.#body.take();
    this.#bytesRead += bytes?.length ?? 0;
    if (this.#bytesRead <= this.#maxBytes) return bytes;
    this.destroy();
    throw new Error(`the answer is larger than ${this.#maxBytes} bytes`);
  }

  /** Resolves when `take`, which has just given nothing, has something to say. */
  arrival(): Promise<void> {
    return this.#body.arrival();
  }

  /** All that remains. Throws as `take` does. */
  async readAll(): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (;;) {
      const bytes = this.take();
      if (bytes) parts.push(bytes);
      else if (this.isEnded) return Buffer.concat(parts);
      else await this.arrival();
    }
  }

  /** Closes the connection. */
  destroy(): void {
    this.#body.destroy();
  }

  /**
   * Reads away what little may follow the part that mattered, so that the connection can serve the next call; a vendor
   * that does not come to an end soon is cut off.
   */
  async drain(): Promise<void> {
    if (this.isEnded) return;
    const timer = setTimeout(() => this.destroy(), DRAIN_MS).unref();
    const limit = this.#bytesRead + DRAIN_BYTES;
    try {
      while (this.#bytesRead < limit && (this.take() || !this.isEnded)) await this.arrival();
    } catch {
      // Whatever happens after the answer is complete does not matter.
    } finally {
      clearTimeout(timer);
      this.destroy();
    }
  }
}
