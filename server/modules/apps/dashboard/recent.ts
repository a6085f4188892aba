import { systemClock, type Clock } from '../../../platform/clock/index.ts';

/** What was made a short while ago. */
export interface Recent<V> {
  /** What the key holds, or what `make` gives; those who ask meanwhile share it. */
  get: (key: string, make: () => Promise<V>) => Promise<V>;
}

export interface RecentOptions<V> {
  maxAgeMs: number;
  maxEntries: number;
  /** Whether a value may be given again. */
  isKept: (value: V) => boolean;
  clock?: Clock;
}

export function createRecent<V>({ maxAgeMs, maxEntries, isKept, clock = systemClock }: RecentOptions<V>): Recent<V> {
  /** In order of making, the oldest first. */
  const entries = new Map<string, { value: Promise<V>; madeAtMs: number }>();
  const forget = (key: string, value: Promise<V>): void => {
    if (entries.get(key)?.value === value) entries.delete(key);
  };
  const make = async (key: string, maker: () => Promise<V>): Promise<V> => {
    const value = maker();
    entries.delete(key);
    entries.set(key, { value, madeAtMs: clock.steadyMs() });
    const oldest = entries.size > maxEntries ? entries.keys().next() : undefined;
    if (oldest !== undefined && oldest.done !== true) entries.delete(oldest.value);
    try {
      const made = await value;
      if (!isKept(made)) forget(key, value);
      return made;
    } catch (error) {
      forget(key, value);
      throw error;
    }
  };
  return {
    get: (key, maker) => {
      const known = entries.get(key);
      return known && clock.steadyMs() - known.madeAtMs < maxAgeMs ? known.value : make(key, maker);
    },
  };
}
