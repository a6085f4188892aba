import { AppError } from '../../../platform/errors/index.ts';

const RETRY_SECONDS = 5;

interface Waiting {
  owner: string;
  bytes: number;
  begin: () => void;
}

/** Lets a few run at once, one of each owner, and others wait as long as they do not hold too much memory. */
export class Turns {
  readonly #limits: { most: number; mostWaitingBytes: number };
  /** Owners of those that run. */
  readonly #running = new Set<string>();
  /** In the order they came; of an owner who has just had a turn, behind those of the others. */
  #waiting: Waiting[] = [];

  constructor(limits: { most: number; mostWaitingBytes: number }) {
    this.#limits = limits;
  }

  /** Waits for a turn; gives what ends it. Throws UNAVAILABLE when too much waits already. */
  async take(owner: string, bytes: number): Promise<() => void> {
    if (this.#running.size >= this.#limits.most || this.#running.has(owner)) {
      if (this.#waiting.reduce((sum, other) => sum + other.bytes, bytes) > this.#limits.mostWaitingBytes) {
        throw new AppError('UNAVAILABLE', 'Too many large bodies are being stored; send it again in a while.', {
          retryAfterSeconds: RETRY_SECONDS,
        });
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push({ owner, bytes, begin: resolve });
      await promise;
    } else this.#running.add(owner);
    return () => this.#end(owner);
  }

  #end(owner: string): void {
    this.#running.delete(owner);
    const isOwn = (other: Waiting): boolean => other.owner === owner;
    this.#waiting = [...this.#waiting.filter((other) => !isOwn(other)), ...this.#waiting.filter(isOwn)];
    const next = this.#waiting.find((other) => !this.#running.has(other.owner));
    if (!next) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#running.add(next.owner);
    next.begin();
  }
}
