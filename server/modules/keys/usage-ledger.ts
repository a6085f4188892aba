import type { Logger } from 'pino';
import { utcDay } from '../../platform/clock/index.ts';
import { createGroupWriter, type Database } from '../../platform/db/index.ts';
import type { CallRecord } from '../../platform/http/index.ts';
import { createId } from '../../platform/ids/index.ts';
import type { Limiter } from './limiter.ts';
import { addUsage, forgetOldWriters, type UsageBatch } from './usage.store.ts';

/** Counts are at most this far behind the requests they count. */
const MAX_DELAY_MS = 50;
/** One batch is being written and one is open; more than that never wait. */
const MAX_WAITING = 10;

export interface UsageLedgerOptions {
  database: Database;
  limiter: Limiter;
  log: Logger;
}

/** Keeps the counts of served requests in the database, a batch behind. Counts only what was served. */
export class UsageLedger {
  /** Names this process in the database. */
  readonly writerId = createId('use');
  readonly #options: UsageLedgerOptions;
  readonly #writer: ReturnType<typeof createGroupWriter<UsageBatch>>;
  #lastNumber = 0;
  #open: UsageBatch | undefined;
  /** Given to the database, which may have it already or not. */
  #unsettled: UsageBatch | undefined;

  private constructor(options: UsageLedgerOptions) {
    this.#options = options;
    this.#writer = createGroupWriter<UsageBatch>({
      write: async ([batch]) => batch && this.#write(batch),
      maxItems: 1,
      maxDelayMs: MAX_DELAY_MS,
      maxQueued: MAX_WAITING,
      log: options.log,
    });
  }

  static async open(options: UsageLedgerOptions): Promise<UsageLedger> {
    await forgetOldWriters(options.database);
    return new UsageLedger(options);
  }

  /** Counts a finished request on the UTC day of its arrival. */
  record({ caller, isCounted, startedAtMs }: CallRecord): void {
    if (!isCounted) return;
    const { counts } = this.#open ?? this.#begin();
    const day = utcDay(startedAtMs);
    const id = countId(caller.keyId, day);
    const known = counts.get(id);
    if (known) known.requests++;
    else counts.set(id, { developerId: caller.developerId, keyId: caller.keyId, day, requests: 1 });
  }

  /** Requests that are in the database when it holds batches up to `lastBatch`, and that no meter was told of yet. */
  unsettled(keyId: string, day: string, lastBatch: number): number {
    const batch = this.#unsettled;
    return batch && batch.number <= lastBatch ? (batch.counts.get(countId(keyId, day))?.requests ?? 0) : 0;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #begin(): UsageBatch {
    const batch = { writerId: this.writerId, number: ++this.#lastNumber, counts: new Map() };
    this.#open = batch;
    this.#writer.enqueue(batch);
    return batch;
  }

  async #write(batch: UsageBatch): Promise<void> {
    // From here on its counts stand still; what is served meanwhile opens the next one.
    if (batch === this.#open) this.#open = undefined;
    this.#unsettled = batch;
    const { database, limiter } = this.#options;
    for (const { keyId, day, requests: total } of await addUsage(database, batch)) {
      const added = batch.counts.get(countId(keyId, day))?.requests ?? 0;
      limiter.meter(keyId)?.settle({ day, total, lastBatch: batch.number }, added);
    }
    this.#unsettled = undefined;
  }
}

function countId(keyId: string, day: string): string {
  return `${keyId} ${day}`;
}
