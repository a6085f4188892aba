import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { utcDay } from '../../../platform/clock/index.ts';
import type { Database } from '../../../platform/db/index.ts';
import { errorMessage } from '../../../platform/errors/index.ts';
import { ensurePartition } from '../call-log.store.ts';
import { dropPartition, readPartitionDays } from './pruning.store.ts';

const DAY_MS = 86_400_000;
/** Partitions are there this many days before their first call. */
const DAYS_AHEAD = 3;
const DROP_ATTEMPTS = 3;
const DROP_PAUSE_MS = 500;

interface CallLogPruning {
  database: Database;
  days: number;
  nowMs: number;
  signal: AbortSignal;
  log: Logger;
}

/** False when somebody reads the day all the time, such as a backup; another hour will do. */
async function tryDrop({ database, signal, log }: CallLogPruning, day: string): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await database.transaction((tx) => dropPartition(tx, day));
      return true;
    } catch (error) {
      if (attempt < DROP_ATTEMPTS) await sleep(DROP_PAUSE_MS, undefined, { signal });
      else {
        log.warn(`the calls of ${day} are kept for another hour: ${errorMessage(error)}`);
        return false;
      }
    }
  }
}

/** Makes the partitions of the next days and drops those of which every call is older than `days`. */
export async function pruneCallLog(pruning: CallLogPruning): Promise<void> {
  const { database, days, nowMs, signal } = pruning;
  const existing = await readPartitionDays(database);
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const day = utcDay(nowMs + ahead * DAY_MS);
    if (!existing.includes(day)) await ensurePartition(database, day);
  }
  const firstKept = utcDay(nowMs - days * DAY_MS);
  for (const day of existing.filter((one) => one < firstKept)) {
    signal.throwIfAborted();
    if (!(await tryDrop(pruning, day))) return;
  }
}
