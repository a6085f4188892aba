import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../../platform/db/index.ts';
import { errorMessage } from '../../../platform/errors/index.ts';
import { deleteOldest, dropSlice, ensureSlices, readHistoryBytes, readLiveBytes, readSlices } from './slice.store.ts';
import { firstRunId, sliceSuffix, type Slice } from './slice.ts';

const DAY_MS = 86_400_000;
const DROP_ATTEMPTS = 3;
const DROP_PAUSE_MS = 300;
/** Runs of one delete, few enough that others hardly notice it. */
const PIECE = 1000;
const PAUSE_MS = 50;
/** Where sizes count, fewer: all of them go, whatever the last ones hold. */
const SIZE_PIECE = 100;
const SIZE_PAUSE_MS = 10;
export interface RunPruning {
  database: Database;
  historyDays: number;
  historyBytes: number;
  nowMs: number;
  signal: AbortSignal;
  log: Logger;
}

/** `open`: a run of it has not ended, and its steps stay with it. `busy`: somebody reads all the time, such as a backup; another time will do. */
async function tryDrop({ database, signal, log }: RunPruning, slice: Slice): Promise<'dropped' | 'open' | 'busy'> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return (await database.transaction((tx) => dropSlice(tx, slice))) ? 'dropped' : 'open';
    } catch (error) {
      if (attempt < DROP_ATTEMPTS) await sleep(DROP_PAUSE_MS, undefined, { signal });
      else {
        log.warn(`the runs of ${sliceSuffix(slice)} are kept for now: ${errorMessage(error)}`);
        return 'busy';
      }
    }
  }
}

/** Deletes runs that began before the moment and have ended; their steps wait for their slice to go. */
async function deleteBefore({ database, signal }: RunPruning, beforeMs: number): Promise<void> {
  const piece = { beforeId: firstRunId(beforeMs), limit: PIECE, withSteps: false };
  while ((await deleteOldest(database, piece)).runs === PIECE) await sleep(PAUSE_MS, undefined, { signal });
  signal.throwIfAborted();
}

async function pruneByAge(pruning: RunPruning): Promise<void> {
  const { database, historyDays, nowMs } = pruning;
  const beforeMs = nowMs - historyDays * DAY_MS;
  const slices = await readSlices(database);
  const old = slices.filter(({ toMs }) => toMs <= beforeMs);
  // A slice that holds younger runs as well stays as a whole.
  const oldest = slices.find(({ toMs }) => toMs > beforeMs);
  await deleteBefore(pruning, Math.min(beforeMs, oldest?.fromMs ?? beforeMs));
  for (const slice of old) if ((await tryDrop(pruning, slice)) === 'busy') return;
}

/** The slice that is being filled cannot go: its oldest runs do, and what they leave is filled again. */
async function pruneNewest({ database, historyBytes, signal, nowMs }: RunPruning): Promise<void> {
  const piece = { beforeId: firstRunId(nowMs), limit: SIZE_PIECE, withSteps: true };
  let excess = (await readLiveBytes(database)) - historyBytes;
  while (excess > 0) {
    const { runs, bytes } = await deleteOldest(database, piece);
    if (runs === 0) return;
    excess -= bytes;
    await sleep(SIZE_PAUSE_MS, undefined, { signal });
  }
}

async function pruneBySize(pruning: RunPruning): Promise<void> {
  const { database, historyBytes, nowMs } = pruning;
  const isOver = async (): Promise<boolean> => (await readHistoryBytes(database)) > historyBytes;
  for (const slice of (await readSlices(database)).filter(({ toMs }) => toMs <= nowMs)) {
    if (!(await isOver())) return;
    await deleteBefore(pruning, slice.toMs);
    if ((await tryDrop(pruning, slice)) === 'busy') return;
  }
  if (await isOver()) await pruneNewest(pruning);
}

/** Makes the slices that steps will need, and gives back what is too old or too much. Open runs always stay. */
export async function pruneRuns(pruning: RunPruning): Promise<void> {
  await ensureSlices(pruning.database, pruning);
  await pruneByAge(pruning);
  await pruneBySize(pruning);
}
