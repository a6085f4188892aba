import type { Logger } from 'pino';
import { createGroupWriter, type Database, type Transaction } from '../../../platform/db/index.ts';
import { publishEvents, type NewEvent } from '../../../platform/outbox/index.ts';
import {
  endRuns,
  lockOwnedRuns,
  markRunning,
  saveRecords,
  type ClaimedRun,
  type RunEnd,
  type StepRecord,
} from './checkpoint.store.ts';

/** Something of a run to write down. */
interface Checkpoint {
  run: ClaimedRun;
  records: readonly StepRecord[];
  /** With the last one: how the run ends, and the event that tells of it. */
  end?: { end: RunEnd; event: NewEvent };
}

interface Entry extends Checkpoint {
  /** Set when the run belongs to somebody else by now, or has ended: nothing was written. */
  isLost: boolean;
}

export interface Checkpoints {
  /** Resolves when it is on disk; false when the run is no longer this process's, and nothing was written. */
  save: (checkpoint: Checkpoint) => Promise<boolean>;
  close: () => Promise<void>;
}

/** One statement cannot write a step twice: the last word on it counts. */
function latestRecords(entries: readonly Entry[]): StepRecord[] {
  const latest = new Map<string, StepRecord>();
  for (const record of entries.flatMap(({ records }) => records)) {
    const id = `${record.runId} ${record.nodeId}`;
    latest.delete(id);
    latest.set(id, record);
  }
  return [...latest.values()];
}

async function write(tx: Transaction, owner: string, entries: readonly Entry[]): Promise<void> {
  const runs = [...new Map(entries.map(({ run }) => [run.id, run])).values()];
  const owned = await lockOwnedRuns(tx, owner, runs);
  const kept = entries.filter(({ run }) => owned.has(run.id));
  for (const entry of entries) entry.isLost = !owned.has(entry.run.id);
  if (kept.length === 0) return;
  await markRunning(
    tx,
    owner,
    kept.map(({ run }) => run),
  );
  const records = latestRecords(kept);
  if (records.length > 0) await saveRecords(tx, records);
  const ends = kept.flatMap(({ end }) => end ?? []);
  if (ends.length === 0) return;
  await endRuns(
    tx,
    ends.map(({ end }) => end),
  );
  await publishEvents(
    tx,
    ends.map(({ event }) => event),
  );
}

/**
 * Writes checkpoints of many runs together, so that they share a commit. What is written only counts while the run
 * belongs to this process: one that comes back late is refused here.
 */
export function createCheckpoints({
  database,
  owner,
  log,
}: {
  database: Database;
  owner: string;
  log: Logger;
}): Checkpoints {
  const writer = createGroupWriter<Entry>({
    write: (entries) => database.transaction((tx) => write(tx, owner, entries)),
    maxItems: 500,
    maxDelayMs: 0,
    maxQueued: 100_000,
    log,
  });
  return {
    save: async (checkpoint) => {
      const entry: Entry = { ...checkpoint, isLost: false };
      await writer.submit(entry);
      return !entry.isLost;
    },
    close: () => writer.close(),
  };
}
