interface Waiting {
  owner: string;
  begin: () => void;
}

/** Lets a few run at once, one of each owner; the others wait. */
export class Turns {
  readonly #most: number;
  /** Owners of those that run. */
  readonly #running = new Set<string>();
  /** In the order they came; of an owner who has just had a turn, behind those of the others. */
  #waiting: Waiting[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Waits for a turn; gives what ends it. */
  async take(owner: string): Promise<() => void> {
    if (this.#running.size >= this.#most || this.#running.has(owner)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push({ owner, begin: resolve });
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
