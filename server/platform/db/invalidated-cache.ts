import type { ChangeFeed } from './change-feed.ts';

export interface InvalidatedCache<V> {
  /** The value if it is warm and certainly current. */
  peek: (key: string) => V | undefined;
  /** The value, at once when warm, else loaded; undefined when there is none. */
  get: (key: string) => V | undefined | Promise<V | undefined>;
  /** Forgets a key in this process, right after a commit of its own. */
  invalidate: (key: string) => void;
}

export interface InvalidatedCacheOptions<V> {
  feed: Pick<ChangeFeed, 'on' | 'onLost' | 'isLive'>;
  /** Topic whose keys are the keys of this cache. */
  topic: string;
  /** The least recently used go beyond this. */
  maxEntries: number;
  /** Undefined is handed on, but not remembered. */
  load: (key: string) => Promise<V | undefined>;
}

interface Load<V> {
  promise: Promise<V | undefined>;
  /** Set by a change that arrived after the load began: its result may be old. */
  isStale: boolean;
}

class Cache<V> implements InvalidatedCache<V> {
  readonly #options: InvalidatedCacheOptions<V>;
  /** In order of use, the oldest first. */
  readonly #entries = new Map<string, V>();
  /** The key that was asked for last; it is where it belongs in the order already. */
  #latest = '';
  readonly #loads = new Map<string, Load<V>>();

  constructor(options: InvalidatedCacheOptions<V>) {
    this.#options = options;
    options.feed.on(options.topic, (key) => this.invalidate(key));
    options.feed.onLost(() => this.#dropAll());
  }

  peek(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined || !this.#options.feed.isLive()) return undefined;
    if (key !== this.#latest) {
      this.#latest = key;
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  get(key: string): V | undefined | Promise<V | undefined> {
    return this.peek(key) ?? this.#loads.get(key)?.promise ?? this.#load(key);
  }

  invalidate(key: string): void {
    this.#entries.delete(key);
    const load = this.#loads.get(key);
    if (!load) return;
    // Whoever asks from now on must not share a load that may have read the old state.
    load.isStale = true;
    this.#loads.delete(key);
  }

  #dropAll(): void {
    this.#entries.clear();
    for (const load of this.#loads.values()) load.isStale = true;
    this.#loads.clear();
  }

  #load(key: string): Promise<V | undefined> {
    const load: Load<V> = { promise: this.#options.load(key), isStale: !this.#options.feed.isLive() };
    this.#loads.set(key, load);
    load.promise = load.promise
      .then((value) => {
        if (value !== undefined && !load.isStale && this.#options.feed.isLive()) this.#keep(key, value);
        return value;
      })
      .finally(() => {
        if (this.#loads.get(key) === load) this.#loads.delete(key);
      });
    return load.promise;
  }

  #keep(key: string, value: V): void {
    this.#latest = key;
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#options.maxEntries) return;
    const oldest = this.#entries.keys().next();
    if (oldest.done !== true) this.#entries.delete(oldest.value);
  }
}

/** A cache that follows the change feed: it never gives a value after news that the value changed. */
export function createInvalidatedCache<V>(options: InvalidatedCacheOptions<V>): InvalidatedCache<V> {
  return new Cache(options);
}
