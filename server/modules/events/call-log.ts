import type { Logger } from 'pino';
import { systemClock, utcDay, type Clock } from '../../platform/clock/index.ts';
import { createGroupWriter, type Database } from '../../platform/db/index.ts';
import type { CallRecord } from '../../platform/http/index.ts';
import { ensurePartition, insertCalls, type CallLogRow } from './call-log.store.ts';

/** Rows are at most this far behind the calls they record. */
const MAX_DELAY_MS = 50;
const FLUSH_TIMEOUT_MS = 1000;
const DAY_MS = 86_400_000;

export interface CallLog {
  record: (call: CallRecord) => void;
  /** Resolves when what was recorded so far can be read; after a second at the latest. */
  flush: () => Promise<void>;
  close: () => Promise<void>;
}

function rowOf(call: CallRecord): CallLogRow {
  return {
    developerId: call.caller.developerId,
    keyId: call.caller.keyId,
    requestId: call.requestId,
    method: call.method,
    endpoint: call.path,
    status: call.status,
    atMs: call.startedAtMs,
    responseTimeMs: Math.round(call.durationMs * 1000) / 1000,
  };
}

/** Knows which day partitions exist, so that each is made once, before the first row that needs it. */
function createPartitions(database: Database) {
  const known = new Set<string>();
  return async (days: Iterable<string>): Promise<void> => {
    for (const day of days) {
      if (known.has(day)) continue;
      await ensurePartition(database, day);
      known.add(day);
    }
  };
}

/** Waits no longer than this: without a database nothing is written, however long. */
async function atMost(timeoutMs: number, work: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  await Promise.race([work, late]);
  clearTimeout(timer);
}

interface CallLogOptions {
  database: Database;
  log: Logger;
  clock?: Clock;
}

/** The log of authenticated calls, written in batches. Makes today's and tomorrow's partition before it returns. */
export async function createCallLog({ database, log, clock = systemClock }: CallLogOptions): Promise<CallLog> {
  const ensure = createPartitions(database);
  await ensure([utcDay(clock.nowMs()), utcDay(clock.nowMs() + DAY_MS)]);
  const writer = createGroupWriter<CallLogRow>({
    write: async (rows) => {
      await ensure(new Set(rows.map((row) => utcDay(row.atMs))));
      await insertCalls(database, rows);
    },
    maxItems: 5000,
    maxDelayMs: MAX_DELAY_MS,
    maxQueued: 200_000,
    log,
  });
  return {
    record: (call) => writer.enqueue(rowOf(call)),
    flush: () => atMost(FLUSH_TIMEOUT_MS, writer.flush()),
    close: () => writer.close(),
  };
}
