/** Lets a few jobs of each key run at once; the others wait, in the order they came. */
export class FewAtOnce {
  readonly #most: number;
  /** Of each key that has jobs: how many run, and what lets the next begin. */
  readonly #byKey = new Map<string, { running: number; waiting: (() => void)[] }>();

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const jobs = this.#byKey.get(key) ?? { running: 0, waiting: [] };
    this.#byKey.set(key, jobs);
    if (jobs.running < this.#most) jobs.running++;
    else {
      const { promise, resolve } = Promise.withResolvers<void>();
      jobs.waiting.push(resolve);
      await promise;
    }
    try {
      return await job();
    } finally {
      // Whoever comes next takes the place.
      const next = jobs.waiting.shift();
      if (next) next();
      else if (--jobs.running === 0) this.#byKey.delete(key);
    }
  }
}
