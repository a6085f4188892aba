import type { Logger } from 'pino';
import { createGroupWriter, type Database } from '../../platform/db/index.ts';
import type { Runner } from './engine/runner.ts';
import { insertRuns, insertWaitingRuns, type NewRun } from './run.store.ts';

/** Gives runs to the runner of this process as far as it has room. */
export function assignRuns(runs: readonly NewRun[], runner: Runner | undefined): NewRun[] {
  if (!runner) return [...runs];
  const mine = runner.assign(runs);
  return runs.map((run) => (mine.has(run) ? { ...run, leaseOwner: runner.owner } : run));
}

export interface RunStarter {
  /** Resolves when the run is on disk, and will end however often processes do. */
  start: (run: NewRun) => Promise<void>;
  close: () => Promise<void>;
}

interface StarterParts {
  database: Database;
  /** Of this process; undefined where it runs no workflows. */
  runner: () => Runner | undefined;
  log: Logger;
}

/** Writes runs together with those that begin at the same time, and has them begun at once where there is room. */
export function createRunStarter({ database, runner, log }: StarterParts): RunStarter {
  const writer = createGroupWriter<NewRun>({
    write: async (runs) => {
      const mine = runner();
      const assigned = assignRuns(runs, mine);
      const isAllMine = assigned.every(({ leaseOwner }) => leaseOwner !== null);
      const written = await (isAllMine ? insertRuns : insertWaitingRuns)(database, assigned);
      // One that an earlier try had written, of which nobody knew, may be another's by now.
      mine?.take(assigned.filter(({ id, leaseOwner }) => leaseOwner !== null && written.has(id)));
    },
    maxItems: 500,
    maxDelayMs: 0,
    maxQueued: 20_000,
    log,
  });
  return { start: (run) => writer.submit(run), close: () => writer.close() };
}
