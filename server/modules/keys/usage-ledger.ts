import type { Logger } from 'pino';
import { utcDay } from '../../platform/clock/index.ts';
import { createGroupWriter, type Database } from '../../platform/db/index.ts';
import type { CallRecord } from '../../platform/http/index.ts';
import { createId } from '../../platform/ids/index.ts';
import type { Limiter } from './limiter.ts';
import { addUsage, forgetOldWriters, type UsageBatch } from './usage.store.ts';

/** Counts are at most this far behind the requests they count. */
const MAX_DELAY_MS = 50;
/** Batches that may wait while the database is away; each holds one number per key and day, so this is hours. */
const MAX_WAITING = 100_000;

/** Adds one request to a batch. */
function count(batch: UsageBatch, { caller, startedAtMs }: CallRecord): void {
  const day = utcDay(startedAtMs);
  const id = `${caller.keyId} ${day}`;
  const known = batch.counts.get(id);
  if (known) known.requests++;
  else batch.counts.set(id, { developerId: caller.developerId, keyId: caller.keyId, day, requests: 1 });
}

async function write(database: Database, limiter: Limiter, batch: UsageBatch): Promise<void> {
  const totals = await addUsage(database, batch);
  for (const { keyId, day, requests: total } of totals) {
    const added = batch.counts.get(`${keyId} ${day}`)?.requests ?? 0;
    limiter.meter(keyId).settle({ day, added, total });
  }
}

/** Keeps the counts of served requests in the database, a batch behind. Counts only what was served. */
export async function openUsageLedger(options: { database: Database; limiter: Limiter; log: Logger }) {
  const { database, limiter, log } = options;
  await forgetOldWriters(database);
  const writerId = createId('use');
  let batchNumber = 0;
  let open: UsageBatch | undefined;
  const writer = createGroupWriter<UsageBatch>({
    write: async ([batch]) => {
      // From here on its counts stand still; what is served meanwhile opens the next one.
      if (batch === open) open = undefined;
      if (batch) await write(database, limiter, batch);
    },
    maxItems: 1,
    maxDelayMs: MAX_DELAY_MS,
    maxQueued: MAX_WAITING,
    log,
  });
  return {
    record: (call: CallRecord): void => {
      if (!call.isCounted) return;
      if (open) {
        count(open, call);
        return;
      }
      open = { writerId, number: ++batchNumber, counts: new Map() };
      count(open, call);
      writer.enqueue(open);
    },
    close: () => writer.close(),
  };
}
