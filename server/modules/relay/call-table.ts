import { failure, type AgentCall, type CallOutcome } from './call-outcome.ts';

/** Ids of calls that nobody waits for any more, kept for their late results. */
const MAX_FORSAKEN = 1024;

interface Waiting {
  settle: (outcome: CallOutcome) => void;
}

/** The calls under way on one connection. Every one of them is settled once. */
export class CallTable {
  readonly #waiting = new Map<string, Waiting>();
  readonly #forsaken = new Set<string>();
  readonly #onForsaken: (callId: string) => void;
  readonly #onSettled: () => void;

  /** `onForsaken` is told of a call whose result nobody waits for; `onSettled` after each that ended. */
  constructor(options: { onForsaken: (callId: string) => void; onSettled: () => void }) {
    this.#onForsaken = options.onForsaken;
    this.#onSettled = options.onSettled;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add({ callId, handler, timeoutMs, signal }: AgentCall): Promise<CallOutcome> {
    return new Promise((resolve) => {
      const settle = (outcome: CallOutcome): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        this.#waiting.delete(callId);
        resolve(outcome);
        this.#onSettled();
      };
      const forsake = (outcome: CallOutcome): void => {
        this.#forsake(callId);
        settle(outcome);
      };
      const timer = setTimeout(
        () => forsake(failure('timeout', `The agent did not finish "${handler}" within ${timeoutMs / 1000} s.`)),
        timeoutMs,
      );
      const cancel = (): void => forsake(failure('cancelled', `The call of "${handler}" was cancelled.`));
      signal.addEventListener('abort', cancel, { once: true });
      this.#waiting.set(callId, { settle });
    });
  }

  /** Takes a result. False for a call that was never made here, or has its result already. */
  settle(callId: string, outcome: CallOutcome): boolean {
    const waiting = this.#waiting.get(callId);
    if (!waiting) return this.#forsaken.delete(callId);
    waiting.settle(outcome);
    return true;
  }

  settleAll(outcome: CallOutcome): void {
    for (const waiting of this.#waiting.values()) waiting.settle(outcome);
  }

  #forsake(callId: string): void {
    this.#forsaken.add(callId);
    const [oldest] = this.#forsaken;
    if (this.#forsaken.size > MAX_FORSAKEN && oldest !== undefined) this.#forsaken.delete(oldest);
    this.#onForsaken(callId);
  }
}
