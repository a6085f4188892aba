import { OutboundError } from './outbound-error.ts';

/** Codes of Node and undici, as failures that a caller understands. */
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before there was an answer.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The network of the host cannot be reached.',
  ETIMEDOUT: 'The connection could not be made in time.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection could not be made in time.',
  UND_ERR_SOCKET: 'The connection was closed before the answer was complete.',
};

/** Code of an error, or of the first of several attempts that an error sums up. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Ends an exchange when its time is over or its caller leaves, and says afterwards which of these it was. */
export class Deadline {
  readonly #abort = new AbortController();
  readonly #timeoutMs: number;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  #isOver = false;

  constructor(timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs;
    this.#callerSignal = callerSignal;
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#abort.abort();
    }, timeoutMs);
    if (callerSignal?.aborted) this.#onCallerAbort();
    callerSignal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  readonly #onCallerAbort = (): void => this.#abort.abort();

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Gives up waiting for something that cannot be cancelled itself. */
  async race<T>(work: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const giveUp = (): void => reject(this.signal.reason);
    if (this.signal.aborted) giveUp();
    this.signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await Promise.race([work, promise]);
    } finally {
      this.signal.removeEventListener('abort', giveUp);
      // A late failure of work that nobody waits for any more must not end the process.
      work.catch(() => undefined);
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort);
  }

  /** What a caller is told of a failure. */
  explain(error: unknown): OutboundError {
    if (this.#callerSignal?.aborted) return new OutboundError('aborted', 'The request was given up.', { cause: error });
    if (this.#isOver) {
      return new OutboundError('timeout', `There was no complete answer within ${this.#timeoutMs} ms.`, {
        cause: error,
      });
    }
    if (error instanceof OutboundError) return error;
    const unreachable = UNREACHABLE[codeOf(error)];
    if (unreachable !== undefined) return new OutboundError('unreachable', unreachable, { cause: error });
    return new OutboundError('bad_response', 'The answer is not valid HTTP, or its headers are too large.', {
      cause: error,
    });
  }
}
