import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CronItem, Runner, RunnerOptions, TaskList } from 'graphile-worker';
import type { Logger } from 'pino';
import { prepared, type Database } from '../db/index.ts';
import { errorMessage } from '../errors/index.ts';
import { JobReclaimer } from './job-reclaimer.ts';
import { migrateQueue } from './migrate-queue.ts';
import { createWorkerLogger } from './worker-logger.ts';

const DEFAULT_CONCURRENCY = 10;
/** Precision of jobs that run at a given moment; new ones are announced by NOTIFY. */
const POLL_MS = 1000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
const STOP_TIMEOUT_MS = 10_000;
/** Part of the time `stop` allows, after which running jobs are asked to give up. */
const ABORT_AFTER_MS = 5000;

export interface JobContext {
  /** 1 at the first attempt. */
  attempt: number;
  /** Aborted when the service stops and the job should give up. */
  signal: AbortSignal;
}

/** Does one job. Throwing means: try again later. Must bear repetition, since a process can die between doing and noting. */
export type Task = (payload: unknown, context: JobContext) => Promise<void>;

/** A task that is due by the clock. `match` is a five-field cron pattern in UTC. */
export type QueueCronItem = Pick<CronItem, 'task' | 'options' | 'payload' | 'identifier'> & { match: string };

export interface QueueOptions {
  database: Database;
  tasks: Readonly<Record<string, Task>>;
  cron?: readonly QueueCronItem[];
  /** Jobs that run at once in this process; 10 when absent. */
  concurrency?: number;
  log: Logger;
}

export interface Queue {
  start: () => Promise<void>;
  /** Takes no more jobs and waits for running ones, at most 10 seconds; those are tried again later. */
  stop: () => Promise<void>;
  /** Jobs that are due and not taken yet. */
  depth: () => Promise<number>;
}

function toTaskList(tasks: QueueOptions['tasks']): TaskList {
  const list: TaskList = {};
  for (const [name, task] of Object.entries(tasks)) {
    list[name] = (payload: unknown, helpers) => {
      return task(payload, { attempt: helpers.job.attempts, signal: helpers.abortSignal });
    };
  }
  return list;
}

const countDue = prepared(`select count(*)::int as count from graphile_worker.jobs
  where locked_at is null and attempts < max_attempts and run_at <= now()`);

/** Keeps the library's runner running: it ends when its connections break, ours begins anew for ever. */
class SupervisedQueue implements Queue {
  readonly #options: QueueOptions;
  readonly #reclaimer: JobReclaimer;
  readonly #stopping = new AbortController();
  #runner: Runner | undefined;
  /** Under which the runner takes jobs. */
  #workerId = '';
  #loop: Promise<void> = Promise.resolve();

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#reclaimer = new JobReclaimer(options.database, options.log);
  }

  async start(): Promise<void> {
    await migrateQueue(this.#options);
    await this.#reclaimer.start();
    const first = await this.#run();
    this.#loop = this.#supervise(first);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const runner = this.#runner;
    const timer = setTimeout(() => void runner?.kill('the service stops').catch(() => undefined), STOP_TIMEOUT_MS);
    await runner?.stop().catch(() => undefined);
    await this.#loop;
    clearTimeout(timer);
    await this.#reclaimer.stop();
  }

  async depth(): Promise<number> {
    const { rows } = await this.#options.database.query<{ count: number }>(countDue());
    return rows[0]?.count ?? 0;
  }

  async #supervise(first: Runner): Promise<void> {
    const { signal } = this.#stopping;
    let runner: Runner | undefined = first;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      if (runner) {
        pauseMs = FIRST_PAUSE_MS;
        await this.#untilEnd(runner);
        if (signal.aborted) return;
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      runner = signal.aborted ? undefined : await this.#tryRun();
    }
  }

  async #untilEnd(runner: Runner): Promise<void> {
    try {
      await runner.promise;
    } catch (error) {
      this.#options.log.warn({ err: error }, `the queue's runner ended: ${errorMessage(error)}`);
    } finally {
      this.#runner = undefined;
      this.#reclaimer.remove(this.#workerId);
    }
  }

  async #tryRun(): Promise<Runner | undefined> {
    try {
      return await this.#run();
    } catch (error) {
      this.#options.log.warn(`the queue's runner does not start yet: ${errorMessage(error)}`);
      return undefined;
    }
  }

  async #run(): Promise<Runner> {
    const { parseCronItems, run } = await import('graphile-worker');
    const cron = parseCronItems([...(this.#options.cron ?? [])]);
    this.#runner = await run(await this.#runnerOptions(), toTaskList(this.#options.tasks), cron);
    return this.#runner;
  }

  async #runnerOptions(): Promise<RunnerOptions> {
    const { database, concurrency = DEFAULT_CONCURRENCY, log } = this.#options;
    const events: RunnerOptions['events'] = new EventEmitter();
    events.on('pool:create', ({ workerPool }) => {
      this.#workerId = workerPool.id;
      this.#reclaimer.add(workerPool.id);
    });
    return {
      pgPool: database.pool,
      concurrency,
      pollInterval: POLL_MS,
      noHandleSignals: true,
      logger: await createWorkerLogger(log),
      events,
      preset: { worker: { gracefulShutdownAbortTimeout: ABORT_AFTER_MS } },
    };
  }
}

/** A queue in the database. `start` brings its schema up to date and begins to take jobs. */
export function createQueue(options: QueueOptions): Queue {
  return new SupervisedQueue(options);
}
