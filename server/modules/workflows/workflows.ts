import type { Logger } from 'pino';
import type { NodeType } from '../../../contract/routes/workflows.ts';
import { systemClock } from '../../platform/clock/index.ts';
import type { SettingsOf } from '../../platform/config/index.ts';
import type { Database } from '../../platform/db/index.ts';
import { errorMessage } from '../../platform/errors/index.ts';
import type { Caller } from '../../platform/http/index.ts';
import type { EventListener } from '../../platform/outbox/index.ts';
import { tick } from './cron-clock.ts';
import { Runner } from './engine/runner.ts';
import { createEventTrigger } from './event-trigger.ts';
import type { NodeChecks } from './nodes/node-checks.ts';
import type { RunNode } from './nodes/node-type.ts';
import { ensureSlices } from './pruning/slice.store.ts';
import { runPruningTask } from './pruning/pruning-task.ts';
import { createRunStarter, type RunStarter } from './run-starter.ts';
import type { workflowSettings } from './workflows.settings.ts';

const TICK_MS = 1000;
const MINUTE_MS = 60_000;

export interface WorkflowsOptions {
  database: Database;
  url: string;
  /** In whose name a developer's runs work; undefined when the developer is switched off. */
  callerOf: (developerId: string) => Promise<Caller | undefined>;
  nodeTypes: Record<NodeType, RunNode>;
  nodeChecks: NodeChecks;
  settings: SettingsOf<typeof workflowSettings>;
  log: Logger;
}

/** What a process that works on runs has under way. */
export interface WorkflowWork {
  /** Starts workflows that wait for an event. */
  listener: EventListener;
  stop: () => Promise<void>;
}

export interface Workflows {
  database: Database;
  nodeChecks: NodeChecks;
  starter: RunStarter;
  /** Tasks of the queue, for processes that have one. */
  jobs: ReturnType<typeof runPruningTask>;
  /** From now on this process works on runs and watches schedules. */
  startWork: () => Promise<WorkflowWork>;
  /** Told of each call of the API: runs that wait give way to them. */
  noteCall: () => void;
  close: () => Promise<void>;
}

/** Watches schedules, one look at a time. */
function startCronClock({ database, log }: WorkflowsOptions): { stop: () => Promise<void> } {
  let look: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    look ??= tick(database)
      .catch((error: unknown) => log.warn({ err: error }, `schedules wait: ${errorMessage(error)}`))
      .finally(() => (look = undefined));
  }, TICK_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await look;
    },
  };
}

/** Workflows: their definitions, their runs, and the work on those in the processes that do it. */
export function createWorkflows(options: WorkflowsOptions): Workflows {
  const { database, url, callerOf, nodeTypes, settings, log } = options;
  let runner: Runner | undefined;
  const starter = createRunStarter({ database, runner: () => runner, log });
  const onFault = (error: unknown): void => log.error({ err: error }, `a step failed: ${errorMessage(error)}`);
  return {
    database,
    nodeChecks: options.nodeChecks,
    starter,
    jobs: runPruningTask({ database, settings, log }),
    startWork: async () => {
      await ensureSlices(database, { nowMs: systemClock.nowMs(), historyDays: settings.RUN_HISTORY_DAYS });
      const maxRunMs = settings.RUN_MAX_MINUTES * MINUTE_MS;
      const started = new Runner({ database, url, callerOf, tools: { nodeTypes, onFault }, maxRunMs, log });
      await started.start();
      runner = started;
      const clock = startCronClock(options);
      return {
        listener: createEventTrigger(started),
        stop: async () => {
          await clock.stop();
          await started.stop();
        },
      };
    },
    noteCall: () => runner?.noteCall(),
    close: () => starter.close(),
  };
}
