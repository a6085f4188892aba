import { explainFailure } from './network-failure.ts';
import { OutboundError } from './outbound-error.ts';

/** Rejects when the signal is aborted, whether or not the work can be cancelled itself. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    // A late failure of work that nobody waits for any more must not end the process.
    work.catch(() => undefined);
  }
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
    if (callerSignal?.aborted) this.#abort.abort();
    callerSignal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  readonly #onCallerAbort = (): void => this.#abort.abort();

  /** Aborted when the time is over, the caller leaves, or the exchange fails. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort);
  }

  /** Closes whatever a failed exchange has left open, and gives what its caller is told. */
  fail(error: unknown): unknown {
    const reason = this.#explain(error);
    this.#abort.abort();
    return reason;
  }

  #explain(error: unknown): unknown {
    if (error instanceof OutboundError) return error;
    if (this.#callerSignal?.aborted) return new OutboundError('aborted', 'The request was given up.', { cause: error });
    if (this.#isOver) {
      const message = `There was no complete answer within ${this.#timeoutMs} ms.`;
      return new OutboundError('timeout', message, { cause: error });
    }
    return explainFailure(error);
  }
}
