import type { Logger } from 'pino';
import { systemClock, type Clock } from '../../../platform/clock/index.ts';
import type { SettingsOf } from '../../../platform/config/index.ts';
import type { Database } from '../../../platform/db/index.ts';
import type { QueueOptions } from '../../../platform/queue/index.ts';
import type { workflowSettings } from '../workflows.settings.ts';
import { pruneRuns } from './prune-runs.ts';

const TEN_MINUTES_MS = 600_000;
const MB = 1024 * 1024;

interface PruningOptions {
  database: Database;
  settings: SettingsOf<typeof workflowSettings>;
  log: Logger;
  clock?: Clock;
}

/** The task of the queue that keeps the history of runs within its days and its size. */
export function runPruningTask(options: PruningOptions): Required<Pick<QueueOptions, 'tasks' | 'cron'>> {
  const { database, settings, log, clock = systemClock } = options;
  return {
    tasks: {
      prune_runs: (_payload, { signal }) =>
        pruneRuns({
          database,
          historyDays: settings.RUN_HISTORY_DAYS,
          historyBytes: settings.RUN_HISTORY_MB * MB,
          nowMs: clock.nowMs(),
          signal,
          log,
        }),
    },
    cron: [
      {
        task: 'prune_runs',
        match: '*/10 * * * *',
        // One that was missed while nothing ran is made up for, once.
        options: { backfillPeriod: TEN_MINUTES_MS, maxAttempts: 3, jobKey: 'prune_runs' },
      },
    ],
  };
}
