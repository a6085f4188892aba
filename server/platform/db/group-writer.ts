import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AppError, errorMessage } from '../errors/index.ts';
import { isDatabaseAway } from './database-error.ts';

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1000;
/** How long `close` keeps trying when the database is away. */
const CLOSE_TIMEOUT_MS = 10_000;

export interface GroupWriterOptions<Item> {
  /**
   * Writes a batch in one transaction. Must bear repetition (`on conflict do nothing`, or counts that may be off by a
   * batch): when the connection breaks during a commit, nobody knows whether it took place, and the batch is written again.
   */
  write: (items: Item[]) => Promise<void>;
  /** Most items in one batch. */
  maxItems: number;
  /** 0 writes at once when idle and collects only what arrives during a write; else how long to collect first. */
  maxDelayMs: number;
  /** Most items waiting. Beyond it new ones are refused: `submit` rejects, `enqueue` drops them with one warning. */
  maxQueued: number;
  log: Logger;
}

export interface GroupWriter<Item> {
  /** Resolves after the commit that holds the item. Rejects with its own error, or UNAVAILABLE when it was refused. */
  submit: (item: Item) => Promise<void>;
  /** Writes the item soon; a failure is logged. Never throws. */
  enqueue: (item: Item) => void;
  /** Resolves when everything handed over so far is written or has failed. */
  flush: () => Promise<void>;
  /** Flushes, for at most 10 seconds while the database is away, then refuses everything. */
  close: () => Promise<void>;
}

interface Entry<Item> {
  item: Item;
  /** Told once: undefined after the commit, else why not. */
  settle: (error: unknown) => void;
}

/** Somebody who waits until so many items are settled. */
interface Flush {
  until: number;
  resolve: () => void;
}

class Writer<Item> implements GroupWriter<Item> {
  readonly #options: GroupWriterOptions<Item>;
  readonly #queue: Entry<Item>[] = [];
  #isRunning = false;
  /** Items ever taken on, and of those the ones that are written or have failed: always the first ones. */
  #taken = 0;
  #settled = 0;
  /** Nobody collects before this many are settled. */
  #hurryUntil = 0;
  #flushes: Flush[] = [];
  #isClosed = false;
  #giveUpAtMs = Infinity;
  #isOverflowing = false;
  #wake = new AbortController();

  constructor(options: GroupWriterOptions<Item>) {
    this.#options = options;
  }

  submit(item: Item): Promise<void> {
    const refusal = this.#refusal();
    if (refusal) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#push({
        item,
        settle: (error) => {
          if (error === undefined) resolve();
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- hands on whatever the write threw
          else reject(error);
        },
      });
    });
  }

  enqueue(item: Item): void {
    const refusal = this.#refusal();
    if (refusal) {
      if (!this.#isOverflowing) this.#options.log.warn(`dropping records: ${refusal.message}`);
      this.#isOverflowing = true;
      return;
    }
    this.#push({ item, settle: (error) => error !== undefined && this.#logLoss(error) });
  }

  flush(): Promise<void> {
    const until = this.#taken;
    if (this.#settled === until) return Promise.resolve();
    this.#hurryUntil = until;
    this.#wake.abort();
    return new Promise((resolve) => {
      this.#flushes.push({ until, resolve });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#giveUpAtMs = performance.now() + CLOSE_TIMEOUT_MS;
    await this.flush();
  }

  #refusal(): AppError | undefined {
    if (this.#isClosed) return new AppError('UNAVAILABLE', 'The service is stopping.');
    if (this.#queue.length < this.#options.maxQueued) return undefined;
    return new AppError('UNAVAILABLE', 'Too much is waiting to be written.', { retryAfterSeconds: 1 });
  }

  #push(entry: Entry<Item>): void {
    this.#queue.push(entry);
    this.#taken++;
    if (!this.#isRunning) void this.#run();
  }

  #logLoss(error: unknown): void {
    this.#options.log.error({ err: error }, `a record could not be written: ${errorMessage(error)}`);
  }

  /** Writes batches until nothing waits. Never rejects. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    // One turn of the loop: what is submitted in the same tick belongs to the same batch.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      if (this.#options.maxDelayMs > 0) await this.#collect();
      const batch = this.#queue.splice(0, this.#options.maxItems);
      await this.#writeBatch(batch);
      this.#noteSettled(batch.length);
      if (this.#queue.length < this.#options.maxQueued / 2) this.#isOverflowing = false;
    }
    this.#isRunning = false;
  }

  #noteSettled(count: number): void {
    this.#settled += count;
    const isOver = ({ until }: Flush): boolean => until <= this.#settled;
    for (const { resolve } of this.#flushes.filter(isOver)) resolve();
    this.#flushes = this.#flushes.filter((flush) => !isOver(flush));
  }

  async #collect(): Promise<void> {
    if (this.#settled < this.#hurryUntil || this.#queue.length >= this.#options.maxItems) return;
    this.#wake = new AbortController();
    await sleep(this.#options.maxDelayMs, undefined, { signal: this.#wake.signal }).catch(() => undefined);
  }

  /** Halves a batch that fails for its data until the poisonous item stands alone. */
  async #writeBatch(batch: Entry<Item>[]): Promise<void> {
    const error = await this.#write(batch.map(({ item }) => item));
    if (error === undefined || batch.length === 1 || isDatabaseAway(error)) {
      for (const { settle } of batch) settle(error);
      return;
    }
    const middle = batch.length >> 1;
    await this.#writeBatch(batch.slice(0, middle));
    await this.#writeBatch(batch.slice(middle));
  }

  /** Gives the error that remains; tries again as long as the database is away. */
  async #write(items: Item[]): Promise<unknown> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        await this.#options.write(items);
        return undefined;
      } catch (error) {
        if (!isDatabaseAway(error) || performance.now() > this.#giveUpAtMs) return error ?? new Error('unknown error');
        if (pauseMs === FIRST_PAUSE_MS) this.#options.log.warn(`records wait for the database: ${errorMessage(error)}`);
      }
      await sleep(pauseMs);
    }
  }
}

/** Collects single writes into batches, so that many callers share one commit and its fsync. */
export function createGroupWriter<Item>(options: GroupWriterOptions<Item>): GroupWriter<Item> {
  return new Writer(options);
}
