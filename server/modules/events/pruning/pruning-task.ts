import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, type Clock } from '../../../platform/clock/index.ts';
import type { SettingsOf } from '../../../platform/config/index.ts';
import type { Database, Queryable } from '../../../platform/db/index.ts';
import { deleteDispatched } from '../../../platform/outbox/index.ts';
import { deleteFailedJobs, type QueueOptions } from '../../../platform/queue/index.ts';
import type { eventSettings } from '../events.settings.ts';
import { pruneCallLog } from './prune-call-log.ts';
import { deleteFinishedDeliveries, deleteUnusedMessages } from './pruning.store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Rows of one delete, small enough that others hardly notice it. */
const PIECE = 5000;
const PAUSE_MS = 100;
/** Events that were handed over are kept for a look at what happened. */
const DISPATCHED_DAYS = 1;
const FAILED_JOB_DAYS = 30;

interface PruningOptions {
  database: Database;
  settings: SettingsOf<typeof eventSettings>;
  log: Logger;
  clock?: Clock;
}

/** Deletes what is older than the moment, at most `limit` rows; gives how many. */
type DeletePiece = (db: Queryable, before: Date, limit: number) => Promise<number>;

async function prune({ database, settings, log, clock = systemClock }: PruningOptions, signal: AbortSignal) {
  const nowMs = clock.nowMs();
  const inPieces = async (deletePiece: DeletePiece, days: number): Promise<void> => {
    const before = new Date(nowMs - days * DAY_MS);
    while ((await deletePiece(database, before, PIECE)) === PIECE) await sleep(PAUSE_MS, undefined, { signal });
    signal.throwIfAborted();
  };
  // First what must be there tomorrow.
  await pruneCallLog({ database, days: settings.CALL_LOG_DAYS, nowMs, signal, log });
  await inPieces(deleteDispatched, DISPATCHED_DAYS);
  await inPieces(deleteFinishedDeliveries, settings.DELIVERY_LOG_DAYS);
  await inPieces(deleteUnusedMessages, settings.DELIVERY_LOG_DAYS);
  await inPieces(deleteFailedJobs, FAILED_JOB_DAYS);
}

/** The task of the queue that gives back the space of what has been kept long enough, once an hour. */
export function pruningTask(options: PruningOptions): Required<Pick<QueueOptions, 'tasks' | 'cron'>> {
  return {
    tasks: { prune: (_payload, { signal }) => prune(options, signal) },
    cron: [
      {
        task: 'prune',
        match: '17 * * * *',
        // One that was missed while nothing ran is made up for, once.
        options: { backfillPeriod: HOUR_MS, maxAttempts: 3, jobKey: 'prune' },
      },
    ],
  };
}
