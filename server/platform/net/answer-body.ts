/** Bytes that wait to be taken before the sender is held back. */
const MAX_WAITING_BYTES = 64 * 1024;

/** The connection that a body comes from. */
export interface BodySource {
  /** Holds the sender back, and lets it go on. */
  pause: () => void;
  resume: () => void;
  abort: (reason: Error) => void;
}

/**
 * The body of an answer, read no faster than it is taken. One await per batch of bytes, and none for bytes that are
 * there already.
 */
export class AnswerBody {
  readonly #source: BodySource;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isOver = false;
  #error: Error | undefined;
  #wake: () => void = () => {};

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Bytes that have come and were not taken. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Whether `take` will never give bytes again. */
  get isEnded(): boolean {
    return this.#isOver && this.#waitingBytes === 0;
  }

  /** The bytes that are there, or undefined. Throws the connection's error. */
  take(): Buffer | undefined {
    if (this.#error) throw this.#error;
    if (this.#waitingBytes === 0) return undefined;
    const [first, ...others] = this.#waiting;
    const bytes = first && others.length === 0 ? first : Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (!this.#isOver) this.#source.resume();
    return bytes;
  }

  /** Resolves when `take`, which has just given nothing, has something to say. */
  arrival(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Closes the connection, unless it has brought everything; what was not taken is gone. */
  destroy(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (!this.#isOver) this.#source.abort(new Error('nobody reads on'));
    this.end();
  }

  /** For the connection: more has come. */
  push(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= MAX_WAITING_BYTES) this.#source.pause();
    this.#wake();
  }

  /** For the connection: that was all, or else why there is no more. */
  end(error?: Error): void {
    if (this.#isOver) return;
    this.#error = error;
    this.#isOver = true;
    this.#wake();
  }
}
