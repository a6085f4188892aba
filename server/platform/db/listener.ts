import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { errorMessage } from '../errors/index.ts';

const HEARTBEAT_MS = 400;
const ANSWER_TIMEOUT_MS = 400;
const CONNECT_TIMEOUT_MS = 3000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 500;

export interface ListenerOptions {
  url: string;
  channel: string;
  log: Logger;
  onNotification: (payload: string) => void;
  /** Listening again: whatever was sent in between was missed. Called at the first connection, too. */
  onUp: () => void;
  onDown?: () => void;
}

/**
 * A connection of its own that listens to one channel, proves itself by a heartbeat and comes back when it breaks.
 */
export class Listener {
  readonly #options: ListenerOptions;
  #client: Client | undefined;
  #provenAtMs = -Infinity;
  #isClosed = false;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /**
   * Moment, on the steady clock, up to which every notification is known to have arrived; -Infinity while not listening.
   */
  get provenAtMs(): number {
    return this.#provenAtMs;
  }

  /** Connects for the first time; rejects when that fails. Later failures are repaired in the background. */
  async open(): Promise<void> {
    await this.#connect();
  }

  async #connect(): Promise<void> {
    const client = this.#newClient();
    this.#client = client;
    try {
      await client.connect();
      const sentAtMs = performance.now();
      await client.query(`listen ${client.escapeIdentifier(this.#options.channel)}`);
      this.#provenAtMs = sentAtMs;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    client.once('end', () => this.#lost(client));
    this.#options.onUp();
    this.#beat(client);
  }

  #newClient(): Client {
    const client = new Client({
      connectionString: this.#options.url,
      application_name: `tessera listener ${this.#options.channel}`,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', () => undefined);
    client.on('notification', ({ payload }) => this.#options.onNotification(payload ?? ''));
    return client;
  }

  #beat(client: Client): void {
    this.#heartbeat = setTimeout(() => void this.#prove(client), HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  /** Asks for an answer. PostgreSQL sends what it has to notify before it answers. */
  async #prove(client: Client): Promise<void> {
    const sentAtMs = performance.now();
    const deadline = setTimeout(() => {
      // If this process was busy, the answer may be waiting to be read: look once before giving up.
      setImmediate(() => setImmediate(() => this.#provenAtMs < sentAtMs && this.#lost(client)));
    }, ANSWER_TIMEOUT_MS);
    try {
      await client.query('select 1');
      if (client !== this.#client) return;
      this.#provenAtMs = sentAtMs;
      this.#beat(client);
    } catch {
      this.#lost(client);
    } finally {
      clearTimeout(deadline);
    }
  }

  #lost(client: Client): void {
    if (this.#isClosed || client !== this.#client) return;
    this.#client = undefined;
    this.#provenAtMs = -Infinity;
    clearTimeout(this.#heartbeat);
    abandon(client);
    this.#options.log.warn({ channel: this.#options.channel }, 'lost the connection that listens for notifications');
    this.#options.onDown?.();
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !this.#isClosed; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      await sleep(pauseMs, undefined, { ref: false });
      try {
        if (!this.#isClosed) await this.#connect();
        if (this.#isClosed) await this.#client?.end();
        return;
      } catch (error) {
        this.#options.log.debug({ channel: this.#options.channel }, `cannot listen yet: ${errorMessage(error)}`);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#provenAtMs = -Infinity;
    clearTimeout(this.#heartbeat);
    await this.#client?.end().catch(() => undefined);
  }
}

/** Ends a connection that may not answer any more, without waiting for its farewell. */
function abandon(client: Client): void {
  client.removeAllListeners('notification');
  client.connection.stream.destroy();
}
