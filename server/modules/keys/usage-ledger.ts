import type { Logger } from 'pino';
import { utcDay } from '../../platform/clock/index.ts';
import { createGroupWriter, type Database } from '../../platform/db/index.ts';
import type { CallRecord } from '../../platform/http/index.ts';
import type { Limiter } from './limiter.ts';
import { addUsage, type UsageCount } from './usage.store.ts';

/** Counts are at most this far behind the requests they count. */
const MAX_DELAY_MS = 50;

/** One row per key and day, however many requests the batch holds. */
function sumByKeyAndDay(items: UsageCount[]): UsageCount[] {
  const sums = new Map<string, UsageCount>();
  for (const item of items) {
    const id = `${item.keyId} ${item.day}`;
    const sum = sums.get(id);
    if (sum) sum.requests += item.requests;
    else sums.set(id, { ...item });
  }
  return [...sums.values()];
}

async function write(db: Database, limiter: Limiter, items: UsageCount[]): Promise<void> {
  const sums = sumByKeyAndDay(items);
  const totals = await addUsage(db, sums);
  for (const total of totals) {
    const added = sums.find((sum) => sum.keyId === total.keyId && sum.day === total.day)?.requests ?? 0;
    limiter.meter(total.keyId).settle({ day: total.day, added, total: total.requests });
  }
}

/** Keeps the counts of served requests in the database, a batch behind. Counts only what was served. */
export function createUsageLedger({ database, limiter, log }: { database: Database; limiter: Limiter; log: Logger }) {
  const writer = createGroupWriter<UsageCount>({
    write: (items) => write(database, limiter, items),
    maxItems: 10_000,
    maxDelayMs: MAX_DELAY_MS,
    maxQueued: 1_000_000,
    log,
  });
  return {
    record: ({ caller, isCounted, startedAtMs }: CallRecord): void => {
      if (!isCounted) return;
      const day = utcDay(startedAtMs);
      writer.enqueue({ developerId: caller.developerId, keyId: caller.keyId, day, requests: 1 });
    },
    close: () => writer.close(),
  };
}

export type UsageLedger = ReturnType<typeof createUsageLedger>;
