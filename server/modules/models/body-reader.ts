import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';

const DRAIN_MS = 2_000;
const DRAIN_BYTES = 64 * 1024;

/**
 * Reads a vendor's body on demand: nothing is taken before it is asked for, so a slow consumer slows the vendor down.
 * One await per batch of bytes, and none for bytes that are there already.
 */
export class BodyReader {
  readonly #body: Readable;
  readonly #maxBytes: number;
  #bytesRead = 0;
  #isEnded = false;
  #error: Error | undefined;
  #wake: () => void = () => {};

  constructor(body: Readable, maxBytes: number) {
    this.#body = body;
    this.#maxBytes = maxBytes;
    body.on('readable', () => this.#wake());
    body.on('end', () => this.#end());
    body.on('close', () => this.#end());
    body.on('error', (error) => this.#end(error));
    // The end or the failure may lie before this moment, and is not announced twice.
    if (body.errored) this.#error = body.errored;
    if (body.destroyed || body.readableEnded) this.#isEnded = true;
  }

  #end(error?: Error): void {
    this.#error ??= error;
    this.#isEnded = true;
    this.#wake();
  }

  /** Whether `take` will never give bytes again. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The bytes that are there, or undefined. Throws the connection's error, or when the body is too large. */
  take(): Buffer | undefined {
    if (this.#error) throw this.#error;
    const bytes = readBytes(this.#body);
    this.#bytesRead += bytes?.length ?? 0;
    if (this.#bytesRead <= this.#maxBytes) return bytes;
    this.destroy();
    throw new Error(`the answer is larger than ${this.#maxBytes} bytes`);
  }

  /** Resolves when `take`, which has just given nothing, has something to say. */
  arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** All that remains. Throws as `take` does. */
  async readAll(): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (;;) {
      const bytes = this.take();
      if (bytes) parts.push(bytes);
      else if (this.#isEnded) return Buffer.concat(parts);
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
    if (this.#isEnded) return;
    const timer = setTimeout(() => this.destroy(), DRAIN_MS).unref();
    const limit = this.#bytesRead + DRAIN_BYTES;
    try {
      while (this.#bytesRead < limit && (this.take() || !this.#isEnded)) await this.arrival();
    } catch {
      // Whatever happens after the answer is complete does not matter.
    } finally {
      clearTimeout(timer);
      this.destroy();
    }
  }
}

/** What the stream has buffered. Readable leaves the type open; a vendor's body is never in object mode. */
function readBytes(body: Readable): Buffer | undefined {
  const chunk: unknown = body.read();
  return Buffer.isBuffer(chunk) ? chunk : undefined;
}
