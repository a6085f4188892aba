import type { Logger } from 'pino';
import { createGroupWriter, type Database } from '../../../platform/db/index.ts';
import { publishEvents, type NewEvent } from '../../../platform/outbox/index.ts';
import { saveCheckpoints, type ClaimedRun, type RunEnd, type StepRecord } from './checkpoint.store.ts';

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

async function write(database: Database, owner: string, entries: readonly Entry[]): Promise<void> {
  const runs = [...new Map(entries.map(({ run }) => [run.id, run])).values()];
  const ending = entries.flatMap(({ end }) => end ?? []);
  const checkpoints = { runs, records: latestRecords(entries), ends: ending.map(({ end }) => end) };
  const owned =
    ending.length === 0
      ? await saveCheckpoints(database, owner, checkpoints)
      : await database.transaction(async (tx) => {
          const ids = await saveCheckpoints(tx, owner, checkpoints);
          const ended = ending.filter(({ end }) => ids.has(end.runId));
          await publishEvents(
            tx,
            ended.map(({ event }) => event),
          );
          return ids;
        });
  for (const entry of entries) entry.isLost = !owned.has(entry.run.id);
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
    write: (entries) => write(database, owner, entries),
    maxItems: 64,
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
