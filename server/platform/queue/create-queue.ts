import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepared, type Database } from '../db/index.ts';
import { errorMessage } from '../errors/index.ts';
import { JobReclaimer } from './job-reclaimer.ts';
import { migrateQueue } from './migrate-queue.ts';
import { startRunner, type QueueCronItem, type StartedRunner, type Task } from './start-runner.ts';

const DEFAULT_CONCURRENCY = 10;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
const STOP_TIMEOUT_MS = 10_000;
/** Part of the time `stop` allows, after which running jobs are asked to give up. */
const ABORT_AFTER_MS = 5000;

export interface QueueOptions {
  database: Database;
  tasks: Readonly<Record<string, Task>>;
  cron?: readonly QueueCronItem[];
  /** Jobs that run at once in this process; 10 when absent. */
  concurrency?: number;
  log: Logger;
}

export interface Queue {
  /** Brings the schema up to date and begins to take jobs; rejects when there is no database. */
  start: () => Promise<void>;
  /** Takes no more jobs and waits for running ones, at most 10 seconds; those are tried again later. */
  stop: () => Promise<void>;
  /** Jobs that are due and not taken yet. */
  depth: () => Promise<number>;
}

const countDue = prepared(`select count(*)::int as count from graphile_worker.jobs
  where locked_at is null and attempts < max_attempts and run_at <= now()`);

/** Keeps a runner of the library running: it ends when its connections break, ours begins anew for ever. */
class SupervisedQueue implements Queue {
  readonly #options: QueueOptions;
  readonly #reclaimer: JobReclaimer;
  readonly #stopping = new AbortController();
  readonly #giveUp = new AbortController();
  #runner: StartedRunner | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#reclaimer = new JobReclaimer(options.database, options.log);
  }

  async start(): Promise<void> {
    await migrateQueue(this.#options);
    await this.#reclaimer.start();
    this.#loop = this.#supervise(await this.#run());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const abort = setTimeout(() => this.#giveUp.abort(), ABORT_AFTER_MS);
    await this.#runner?.stop(STOP_TIMEOUT_MS);
    clearTimeout(abort);
    await this.#loop;
    await this.#reclaimer.stop();
  }

  async depth(): Promise<number> {
    const { rows } = await this.#options.database.query<{ count: number }>(countDue());
    return rows[0]?.count ?? 0;
  }

  async #supervise(first: StartedRunner): Promise<void> {
    const { signal } = this.#stopping;
    let runner: StartedRunner | undefined = first;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      if (runner) pauseMs = FIRST_PAUSE_MS;
      await runner?.ended;
      if (signal.aborted) return;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      runner = signal.aborted ? undefined : await this.#tryRun();
    }
    // One that was starting when `stop` was called.
    await runner?.stop(STOP_TIMEOUT_MS);
  }

  async #tryRun(): Promise<StartedRunner | undefined> {
    try {
      return await this.#run();
    } catch (error) {
      this.#options.log.warn(`the queue does not run yet: ${errorMessage(error)}`);
      return undefined;
    }
  }

  async #run(): Promise<StartedRunner> {
    const { tasks, cron = [], concurrency = DEFAULT_CONCURRENCY, database, log } = this.#options;
    this.#runner = await startRunner({
      database,
      tasks,
      cron,
      concurrency,
      log,
      reclaimer: this.#reclaimer,
      signal: this.#giveUp.signal,
    });
    return this.#runner;
  }
}

/** A queue in the database, run by this process from `start` to `stop` whatever happens to its connections. */
export function createQueue(options: QueueOptions): Queue {
  return new SupervisedQueue(options);
}
