/** Something that runs workflows of three trivial steps. */
export interface Engine {
  name: string;
  /** Runs one; gives the milliseconds from asking for it to having seen that it completed. */
  one: () => Promise<number>;
  /** Asks for so many runs, so many at a time; resolves when the last has completed. */
  all: (runs: number, concurrency: number) => Promise<void>;
  stop: () => Promise<void>;
}

/** Calls `work` so often, from so many callers at a time. */
export async function times(count: number, concurrency: number, work: (caller: number) => Promise<unknown>) {
  let left = count;
  const loop = async (caller: number): Promise<void> => {
    while (left-- > 0) await work(caller);
  };
  await Promise.all(Array.from({ length: concurrency }, (_, caller) => loop(caller)));
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
