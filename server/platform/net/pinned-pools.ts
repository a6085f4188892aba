import { Pool } from 'undici';
import { OutboundError } from './outbound-error.ts';
import type { ResolvedAddress } from './resolve-host.ts';

const MAX_POOLS = 256;
/** Above what one developer's deliveries have under way, who would otherwise hold up everybody else's at that origin. */
const MAX_CONNECTIONS = 512;
const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 4_000;

/**
 * Connections that stay open between requests, kept apart by origin and by the exact addresses that were checked: a
 * connection is never used for an address that this request did not check itself.
 */
export class PinnedPools {
  readonly #connectTimeoutMs: number;
  readonly #pools = new Map<string, Pool>();
  /** Pools that get no more requests, but have some under way. */
  readonly #givenUp = new Set<Pool>();
  /** Ends connections that are still being made, of which undici lets go when it is destroyed. */
  readonly #closing = new AbortController();

  constructor(connectTimeoutMs: number) {
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /**
   * The pool that dials these addresses for that origin, and no others; to be used at once, for a later call may give it
   * up. Throws OutboundError `aborted` after `close`.
   */
  get(origin: string, addresses: readonly ResolvedAddress[]): Pool {
    if (this.#closing.signal.aborted)
      throw new OutboundError('aborted', 'The request was given up, for the server is closing.');
    const id = `${origin} ${addresses
      .map(({ address }) => address)
      .toSorted()
      .join(' ')}`;
    const pool = this.#pools.get(id) ?? this.#open(origin, addresses);
    // A Map keeps the order of insertion: putting a pool back makes it the last to be given up.
    this.#pools.delete(id);
    this.#pools.set(id, pool);
    this.#giveUpOldest();
    return pool;
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values(), ...this.#givenUp];
    this.#pools.clear();
    const destroyed = Promise.all(pools.map((pool) => pool.destroy()));
    this.#closing.abort();
    await destroyed;
  }

  #open(origin: string, addresses: readonly ResolvedAddress[]): Pool {
    return new Pool(origin, {
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      // One protocol to bound, that of which the limits below are known.
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A server may ask for less, not for more: else it could make us hold its connections for as long as it likes.
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: {
        timeout: this.#connectTimeoutMs,
        signal: this.#closing.signal,
        autoSelectFamily: true,
        // Asked only for names: a literal address was checked as it stands and is dialled as it stands.
        lookup: (_hostname, options, callback) => {
          if (options.all) callback(null, [...addresses]);
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family ?? 4);
        },
      },
    });
  }

  #giveUpOldest(): void {
    if (this.#pools.size <= MAX_POOLS) return;
    const oldest = this.#pools.entries().next().value;
    if (!oldest) return;
    const [id, pool] = oldest;
    this.#pools.delete(id);
    this.#givenUp.add(pool);
    // Lets requests under way finish; nothing waits for it, and it fails only when `close` is quicker.
    pool
      .close()
      .catch(() => undefined)
      .finally(() => this.#givenUp.delete(pool));
  }
}
