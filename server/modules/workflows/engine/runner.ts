import type { Logger } from 'pino';
import { Listener, type Database } from '../../../platform/db/index.ts';
import { errorMessage } from '../../../platform/errors/index.ts';
import type { Caller } from '../../../platform/http/index.ts';
import { createId } from '../../../platform/ids/index.ts';
import { claimRuns, readRecords, releaseRuns, renewLeases, type ClaimedRun } from './checkpoint.store.ts';
import { createCheckpoints, type Checkpoints } from './checkpoints.ts';
import { executeRun, type Execution } from './execute-run.ts';

/** Notified, empty, when runs wait; with the id of a run when it was cancelled. */
export const RUNS_CHANNEL = 'workflow_runs';
const SWEEP_MS = 1000;
const HEARTBEAT_MS = 5000;
/** Runs under way at once in this process. */
const MAX_RUNS = 256;
/** Steps under way get this long to end when the process stops. */
const STOP_GRACE_MS = 4000;

export interface RunnerOptions {
  database: Database;
  url: string;
  /** In whose name a developer's runs work; undefined when the developer is switched off. */
  callerOf: (developerId: string) => Promise<Caller | undefined>;
  tools: Execution['tools'];
  log: Logger;
}

interface Active {
  run: ClaimedRun;
  abort: AbortController;
  work: Promise<void>;
}

/** Works on runs, of which many processes may have some; each belongs to one of them at a time. */
export class Runner {
  /** Names this process on the runs it works on. */
  readonly owner = createId('proc');
  readonly #options: RunnerOptions;
  readonly #checkpoints: Checkpoints;
  readonly #listener: Listener;
  readonly #active = new Map<string, Active>();
  #timers: NodeJS.Timeout[] = [];
  #fetch: Promise<void> | undefined;
  #mayWait = false;
  #isStopping = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    const { database, url, log } = options;
    this.#checkpoints = createCheckpoints({ database, owner: this.owner, log });
    this.#listener = new Listener({
      url,
      channel: RUNS_CHANNEL,
      log,
      onNotification: (cancelled) => (cancelled === '' ? this.wake() : this.#active.get(cancelled)?.abort.abort()),
      onUp: () => this.wake(),
    });
  }

  async start(): Promise<void> {
    await this.#listener.open();
    this.#timers = [setInterval(() => this.wake(), SWEEP_MS), setInterval(() => void this.#renew(), HEARTBEAT_MS)];
  }

  /** How many more runs could be begun at once. */
  get room(): number {
    return this.#isStopping ? 0 : MAX_RUNS - this.#active.size;
  }

  /** Begins runs that were written with this process as their owner. */
  take(runs: readonly ClaimedRun[], isFresh = true): void {
    for (const run of runs) this.#begin(run, isFresh);
  }

  /** Looks for runs that wait. */
  wake(): void {
    this.#mayWait = true;
    if (this.room > 0) this.#fetch ??= this.#fetchAll().finally(() => (this.#fetch = undefined));
  }

  /** Begins nothing more, lets steps under way end, and gives back what is left. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#listener.close();
    await this.#fetch;
    const left = [...this.#active.values()];
    const timer = setTimeout(() => {
      for (const { abort } of left) abort.abort();
    }, STOP_GRACE_MS);
    await Promise.all(left.map(({ work }) => work));
    clearTimeout(timer);
    await this.#release(left.map(({ run }) => run));
    await this.#checkpoints.close();
  }

  #begin(run: ClaimedRun, isFresh: boolean): void {
    const abort = new AbortController();
    const work = this.#work(run, abort.signal, isFresh).finally(() => {
      this.#active.delete(run.id);
      if (this.#mayWait) this.wake();
    });
    this.#active.set(run.id, { run, abort, work });
  }

  /** Never rejects: what was interrupted goes on from its last checkpoint when its lease is over. */
  async #work(run: ClaimedRun, signal: AbortSignal, isFresh: boolean): Promise<void> {
    const { database, callerOf, tools, log } = this.#options;
    try {
      await executeRun({
        run,
        records: isFresh ? [] : await readRecords(database, run),
        caller: await callerOf(run.developerId),
        checkpoints: this.#checkpoints,
        tools,
        signal,
        isStopping: () => this.#isStopping,
      });
    } catch (error) {
      if (signal.aborted) return;
      log.error({ err: error, runId: run.id }, `a run was interrupted: ${errorMessage(error)}`);
    }
  }

  async #fetchAll(): Promise<void> {
    const { database, log } = this.#options;
    try {
      while (this.#mayWait && this.room > 0) {
        const { room } = this;
        this.#mayWait = false;
        const runs = await claimRuns(database, this.owner, room);
        this.#mayWait ||= runs.length === room;
        this.take(runs, false);
      }
    } catch (error) {
      log.warn({ err: error }, `runs wait: ${errorMessage(error)}`);
    }
  }

  async #renew(): Promise<void> {
    const active = [...this.#active.values()];
    if (active.length === 0) return;
    const { database, log } = this.#options;
    try {
      const runs = active.map(({ run }) => run);
      const ours = await renewLeases(database, this.owner, runs);
      for (const { run, abort } of active) if (!ours.has(run.id)) abort.abort();
    } catch (error) {
      log.warn({ err: error }, `leases could not be renewed: ${errorMessage(error)}`);
    }
  }

  async #release(runs: readonly ClaimedRun[]): Promise<void> {
    if (runs.length === 0) return;
    const { database, log } = this.#options;
    await releaseRuns(database, this.owner, runs).catch((error: unknown) => {
      log.warn({ err: error }, `runs wait for their lease to end: ${errorMessage(error)}`);
    });
  }
}
