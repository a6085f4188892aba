import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CronItem, Runner, RunnerOptions, TaskList } from 'graphile-worker';
import type { Logger } from 'pino';
import type { Database } from '../db/index.ts';
import { errorMessage } from '../errors/index.ts';
import type { JobReclaimer } from './job-reclaimer.ts';
import { asPool, PatientPool } from './patient-pool.ts';
import { createWorkerLogger } from './worker-logger.ts';

/** Precision of jobs that run at a given moment; new ones are announced by NOTIFY. */
const POLL_MS = 1000;
/** How long a stop by force may take. */
const FORCE_TIMEOUT_MS = 5000;

interface JobContext {
  /** 1 at the first attempt. */
  attempt: number;
  /** Aborted when the service stops and the job should give up. */
  signal: AbortSignal;
}

/** Does one job. Throwing means: try again later. Must bear repetition, since a process can die between doing and noting. */
export type Task = (payload: unknown, context: JobContext) => Promise<void>;

/** A task that is due by the clock. `match` is a five-field cron pattern in UTC. */
export type QueueCronItem = Pick<CronItem, 'task' | 'options' | 'payload' | 'identifier'> & { match: string };

export interface RunnerParts {
  database: Database;
  tasks: Readonly<Record<string, Task>>;
  cron: readonly QueueCronItem[];
  concurrency: number;
  log: Logger;
  reclaimer: JobReclaimer;
  signal: AbortSignal;
}

/** One life of the library's runner. */
export interface StartedRunner {
  /** Resolves when it is gone. Never rejects. */
  ended: Promise<void>;
  /** Ends it, by force after the time is up. Never rejects. */
  stop: (timeoutMs: number) => Promise<void>;
}

function toTaskList({ tasks, reclaimer, signal }: RunnerParts, pool: PatientPool): TaskList {
  const list: TaskList = {};
  for (const [name, task] of Object.entries(tasks)) {
    list[name] = (payload: unknown, { job }) => {
      if (job.job_queue_id !== null) pool.respectQueues();
      return reclaimer.during(job.id, () => task(payload, { attempt: job.attempts, signal }));
    };
  }
  return list;
}

/** Waits for running jobs, then ends the runner by force, then gives up on it. */
async function stopRunner(runner: Runner, ended: Promise<void>, timeoutMs: number): Promise<void> {
  const timers = new AbortController();
  const { signal } = timers;
  const force = sleep(timeoutMs, undefined, { signal }).then(() => runner.kill('it took too long to stop'));
  const giveUp = sleep(timeoutMs + FORCE_TIMEOUT_MS, undefined, { signal });
  const stopped = runner.stop().catch(() => undefined);
  await Promise.race([Promise.all([stopped, ended]), giveUp]);
  timers.abort();
  await Promise.allSettled([force, giveUp]);
}

async function watch(runner: Runner, { log }: RunnerParts): Promise<void> {
  try {
    await runner.promise;
  } catch (error) {
    log.warn({ err: error }, `the queue's runner ended: ${errorMessage(error)}`);
  }
}

/** Starts the library's runner; rejects when the database is away. */
export async function startRunner(parts: RunnerParts): Promise<StartedRunner> {
  const { database, concurrency, cron, log, reclaimer } = parts;
  const { parseCronItems, run } = await import('graphile-worker');
  const pool = new PatientPool(database, log);
  const events: NonNullable<RunnerOptions['events']> = new EventEmitter();
  let workerId = '';
  events.on('pool:create', ({ workerPool }) => {
    workerId = workerPool.id;
    reclaimer.addWorker(workerId);
  });
  const logger = await createWorkerLogger(log);
  const options = { pgPool: asPool(pool), concurrency, pollInterval: POLL_MS, noHandleSignals: true, logger, events };
  const runner = await run(options, toTaskList(parts, pool), parseCronItems([...cron]));
  const ended = watch(runner, parts).finally(() => reclaimer.removeWorker(workerId));
  return { ended, stop: (timeoutMs) => stopRunner(runner, ended, timeoutMs) };
}
