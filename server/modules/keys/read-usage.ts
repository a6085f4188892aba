import { utcDay, type Clock } from '../../platform/clock/index.ts';
import type { Database } from '../../platform/db/index.ts';
import type { Caller } from '../../platform/http/index.ts';
import type { Limiter } from './limiter.ts';
import type { UsageLedger } from './usage-ledger.ts';
import { readMonth } from './usage.store.ts';

/** Usage of one key, in the terms of GET /v1/auth/usage. */
export interface Usage {
  today: number;
  month: number;
}

interface Sources {
  database: Database;
  limiter: Limiter;
  ledger: UsageLedger;
  clock: Clock;
}

/**
 * Reads the usage of a caller's key: what the database holds, of all processes, and what this process has not written
 * yet, each counted once. Of other processes a batch may be missing.
 */
export async function readUsage(sources: Sources, caller: Caller): Promise<Usage> {
  const { database, limiter, ledger, clock } = sources;
  const { developerId, keyId } = caller;
  const day = utcDay(clock.nowMs());
  const month = await readMonth(database, { developerId, keyId, day, writerId: ledger.writerId });
  if (day !== utcDay(clock.nowMs())) return readUsage(sources, caller);
  const { today: total, otherDays, lastBatch } = month;
  const meter = limiter.meter(keyId);
  meter?.learn({ day, total, lastBatch }, ledger.unsettled(keyId, day, lastBatch));
  const today = meter?.today ?? total;
  return { today, month: otherDays + today };
}
