import { explainFailure } from './network-failure.ts';
import { OutboundError } from './outbound-error.ts';
import { whenAborted } from './when-aborted.ts';

type GiveUp = (reason: Error) => void;

/** Ends an exchange when its time is over or its caller leaves, and says afterwards which of these it was. */
export class Deadline {
  readonly #timer: NodeJS.Timeout;
  readonly #unwatch: (() => void) | undefined;
  #giveUp: GiveUp | undefined;
  #reason: Error | undefined;

  constructor(timeoutMs: number, callerSignal: AbortSignal | undefined) {
    const timeUp = (): void => {
      this.#pass(new OutboundError('timeout', `There was no complete answer within ${timeoutMs} ms.`));
    };
    const left = (): void => this.#pass(new OutboundError('aborted', 'The request was given up.'));
    this.#timer = setTimeout(timeUp, timeoutMs);
    this.#unwatch = callerSignal && whenAborted(callerSignal, left);
  }

  #pass(reason: Error): void {
    this.#reason ??= reason;
    this.#giveUp?.(this.#reason);
  }

  /** Has what is under way now given up when the deadline passes: at once, when it has. Takes the place of the last. */
  watch(giveUp: GiveUp): void {
    this.#giveUp = giveUp;
    if (this.#reason) giveUp(this.#reason);
  }

  /** Rejects when the deadline passes, though the work itself cannot be given up. */
  bound<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.watch(reject);
      work.then(resolve, reject);
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#giveUp = undefined;
    this.#unwatch?.();
  }

  /** What the caller is told of a failure. */
  explain(error: unknown): unknown {
    return error instanceof OutboundError ? error : (this.#reason ?? explainFailure(error));
  }
}
