import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway, Listener, type Database, type Transaction } from '../db/index.ts';
import { errorMessage } from '../errors/index.ts';
import type { OutboxEvent } from './event.ts';
import { claimEvents, postponeEvent } from './outbox.store.ts';

const CHANNEL = 'outbox';
const BATCH_SIZE = 500;
/**
 * An event after a quiet time is handed over at once; those of a stream are collected, the longer the more there were,
 * since a transaction for each would compete with the very requests that cause them.
 */
const COLLECT_MS_PER_EVENT = 5;
const MAX_COLLECT_MS = 20;
/** Safety net for a notification that was missed, and the way postponed events are found again. */
const POLL_MS = 2000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;

/**
 * Takes events on. What it writes with `tx` commits together with the note that the events were handed over. A function
 * that it gives is called after that commit; it must not throw, and is not called when the process ends in between.
 */
export type EventListener = (tx: Transaction, events: readonly OutboxEvent[]) => Promise<(() => void) | void>;

export interface OutboxRelayOptions {
  database: Database;
  url: string;
  /** Called in this order for every batch. */
  listeners: readonly EventListener[];
  log: Logger;
}

export interface OutboxRelay {
  /** Finishes the batch at hand. */
  stop: () => Promise<void>;
}

class Relay implements OutboxRelay {
  readonly #options: OutboxRelayOptions;
  readonly #listener: Listener;
  /** Something may wait; looked at again after every batch. */
  #isWoken = false;
  #isStopped = false;
  #wake: () => void = () => undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: OutboxRelayOptions) {
    this.#options = options;
    const wake = (): void => {
      this.#isWoken = true;
      this.#wake();
    };
    const { url, log } = options;
    this.#listener = new Listener({ url, channel: CHANNEL, log, onNotification: wake, onUp: wake });
  }

  async start(): Promise<void> {
    await this.#listener.open();
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await this.#loop;
    await this.#listener.close();
  }

  async #run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#isStopped) {
      try {
        this.#isWoken = false;
        const startedAt = performance.now();
        const count = await this.#relayBatch(BATCH_SIZE);
        pauseMs = FIRST_PAUSE_MS;
        if (count < BATCH_SIZE) await this.#rest(startedAt + Math.min(count * COLLECT_MS_PER_EVENT, MAX_COLLECT_MS));
      } catch (error) {
        this.#options.log.warn({ err: error }, `events wait: ${errorMessage(error)}`);
        await sleep(pauseMs);
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      }
    }
  }

  /** Until the next notification, or the next look without one; not before a moment of performance.now(). */
  async #rest(untilMs: number): Promise<void> {
    await this.#untilWoken();
    const early = untilMs - performance.now();
    if (early > 0 && !this.#isStopped) await sleep(early);
  }

  async #untilWoken(): Promise<void> {
    if (this.#isWoken || this.#isStopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Hands a batch to every listener; when one fails, each event by itself, so that a bad one holds up nobody. */
  async #relayBatch(limit: number): Promise<number> {
    let claimed: OutboxEvent[] = [];
    try {
      const afterwards = await this.#options.database.transaction(async (tx) => {
        claimed = await claimEvents(tx, limit);
        return claimed.length > 0 ? this.#handOver(tx, claimed) : [];
      });
      for (const follow of afterwards) follow();
      return claimed.length;
    } catch (error) {
      const [first] = claimed;
      if (!first || isDatabaseAway(error)) throw error;
      if (claimed.length === 1) await this.#postpone(first, error);
      else for (let left = claimed.length; left > 0; left--) await this.#relayBatch(1);
      return claimed.length;
    }
  }

  /** Gives what is to be done after the commit. */
  async #handOver(tx: Transaction, events: readonly OutboxEvent[]): Promise<(() => void)[]> {
    const afterwards: (() => void)[] = [];
    for (const listener of this.#options.listeners) {
      const follow = await listener(tx, events);
      if (follow) afterwards.push(follow);
    }
    return afterwards;
  }

  async #postpone(event: OutboxEvent, error: unknown): Promise<void> {
    const failures = await this.#options.database.transaction((tx) => postponeEvent(tx, event));
    const { id: eventId, type } = event;
    this.#options.log.error({ err: error, eventId, type, failures }, 'an event could not be handed over; trying later');
  }
}

/**
 * Hands every published event to the listeners, exactly once however many processes relay: claim, listeners and the
 * note of it are one transaction. Wakes by NOTIFY.
 */
export async function createOutboxRelay(options: OutboxRelayOptions): Promise<OutboxRelay> {
  const relay = new Relay(options);
  await relay.start();
  return relay;
}
