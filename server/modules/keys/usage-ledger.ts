import type { Logger } from 'pino';
import type { Tier } from '../../../contract/shared/tiers.ts';
import { utcDay } from '../../platform/clock/index.ts';
import { createGroupWriter, type Database, type Transaction } from '../../platform/db/index.ts';
import type { CallRecord } from '../../platform/http/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { sharesReached, type OnDailyUse } from './daily-use.ts';
import type { Limiter } from './limiter.ts';
import { addUsage, forgetOldWriters, type UsageBatch, type UsageCount } from './usage.store.ts';

/** Counts are at most this far behind the requests they count. */
const MAX_DELAY_MS = 50;
/** One batch is being written and one is open; more than that never wait. */
const MAX_WAITING = 10;

export interface UsageLedgerOptions {
  database: Database;
  limiter: Limiter;
  log: Logger;
  onDailyUse: OnDailyUse;
}

/** A batch that knows which limits its keys have. */
interface TieredBatch extends UsageBatch {
  counts: Map<string, UsageCount & { tier: Tier }>;
}

/** Keeps the counts of served requests in the database, a batch behind. Counts only what was served. */
export class UsageLedger {
  /** Names this process in the database. */
  readonly writerId = createId('use');
  readonly #options: UsageLedgerOptions;
  readonly #writer: ReturnType<typeof createGroupWriter<TieredBatch>>;
  #lastNumber = 0;
  #open: TieredBatch | undefined;
  /** The count of the latest request, which the next one mostly belongs to as well; of the open batch. */
  #latest: UsageCount | undefined;
  /** Given to the database, which may have it already or not. */
  #unsettled: TieredBatch | undefined;

  private constructor(options: UsageLedgerOptions) {
    this.#options = options;
    this.#writer = createGroupWriter<TieredBatch>({
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
    if (this.#latest?.keyId === caller.keyId && this.#latest.day === day) {
      this.#latest.requests++;
      return;
    }
    const id = countId(caller.keyId, day);
    const { developerId, keyId, tier } = caller;
    const count = counts.get(id) ?? { developerId, keyId, tier, day, requests: 0 };
    count.requests++;
    counts.set(id, count);
    this.#latest = count;
  }

  /** Requests that are in the database when it holds batches up to `lastBatch`, and that no meter was told of yet. */
  unsettled(keyId: string, day: string, lastBatch: number): number {
    const batch = this.#unsettled;
    return batch && batch.number <= lastBatch ? (batch.counts.get(countId(keyId, day))?.requests ?? 0) : 0;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #begin(): TieredBatch {
    const batch = { writerId: this.writerId, number: ++this.#lastNumber, counts: new Map() };
    this.#open = batch;
    this.#writer.enqueue(batch);
    return batch;
  }

  async #write(batch: TieredBatch): Promise<void> {
    // From here on its counts stand still; what is served meanwhile opens the next one.
    if (batch === this.#open) {
      this.#open = undefined;
      this.#latest = undefined;
    }
    this.#unsettled = batch;
    const { database, limiter } = this.#options;
    const totals = await database.transaction((tx) => this.#add(tx, batch));
    for (const { keyId, day, requests: total } of totals) {
      const added = batch.counts.get(countId(keyId, day))?.requests ?? 0;
      limiter.meter(keyId)?.settle({ day, total, lastBatch: batch.number }, added);
    }
    this.#unsettled = undefined;
  }

  /** Adds a batch and tells, in the same transaction, which keys it brought to a share of their day. */
  async #add(tx: Transaction, batch: TieredBatch): Promise<UsageCount[]> {
    const { limiter, onDailyUse } = this.#options;
    const totals = await addUsage(tx, batch);
    const reached = totals.flatMap((total) => {
      const added = batch.counts.get(countId(total.keyId, total.day));
      return added ? sharesReached(total, { added: added.requests, cap: limiter.limitsOf(added.tier).perDay }) : [];
    });
    if (reached.length > 0) await onDailyUse(tx, reached);
    return totals;
  }
}

function countId(keyId: string, day: string): string {
  return `${keyId} ${day}`;
}
