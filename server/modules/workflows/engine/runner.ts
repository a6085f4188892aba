import type { Logger } from 'pino';
import { Listener, type Database } from '../../../platform/db/index.ts';
import { errorMessage } from '../../../platform/errors/index.ts';
import type { Caller } from '../../../platform/http/index.ts';
import { createId } from '../../../platform/ids/index.ts';
import { RUNS_CHANNEL } from '../notify-runs.ts';
import { Backlog } from './backlog.ts';
import { releaseRuns, renewLeases, type ClaimedRun, type StepRecord } from './checkpoint.store.ts';
import { createCheckpoints, type Checkpoints } from './checkpoints.ts';
import { executeRun, type Execution } from './execute-run.ts';
import { RunTimeUp } from './run-step.ts';
import { shareLoads } from './share-loads.ts';
import { Shares } from './shares.ts';
import { Turns } from './turns.ts';

const SWEEP_MS = 1000;
const HEARTBEAT_MS = 5000;
/** Runs under way at once in this process; one developer alone may have half of them. */
const MAX_RUNS = 512;
/** The longest that a timer of the runtime waits. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Steps under way get this long to end when the process stops. */
const STOP_GRACE_MS = 4000;

export interface RunnerOptions {
  database: Database;
  url: string;
  /** In whose name a developer's runs work; undefined when the developer is switched off. */
  callerOf: (developerId: string) => Promise<Caller | undefined>;
  tools: Execution['tools'];
  /** How long a run may take. */
  maxRunMs: number;
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
  readonly #shares = new Shares(MAX_RUNS);
  readonly #turns = new Turns();
  readonly #backlog: Backlog;
  readonly #callerOf: RunnerOptions['callerOf'];
  #timers: NodeJS.Timeout[] = [];
  #isStopping = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    const { database, url, log, callerOf } = options;
    this.#callerOf = shareLoads(callerOf);
    this.#checkpoints = createCheckpoints({ database, owner: this.owner, log });
    this.#backlog = new Backlog({
      database,
      owner: this.owner,
      shares: this.#shares,
      activeIds: () => [...this.#active.keys()],
      take: (runs, records) => this.take(runs, records),
      log,
    });
    this.#listener = new Listener({
      url,
      channel: RUNS_CHANNEL,
      log,
      onNotification: (cancelled) => {
        if (cancelled === '') this.#backlog.wake();
        else this.#active.get(cancelled)?.abort.abort();
      },
      onUp: () => this.#backlog.wake(),
    });
  }

  async start(): Promise<void> {
    await this.#listener.open();
    this.#timers = [
      setInterval(() => this.#backlog.wake(), SWEEP_MS),
      setInterval(() => void this.#renew(), HEARTBEAT_MS),
    ];
  }

  /** Of runs about to be written, those that may begin here at once. */
  assign<Run extends { developerId: string }>(runs: readonly Run[]): Set<Run> {
    const mine = new Set<Run>();
    if (this.#isStopping) return mine;
    for (const run of runs) {
      if (!this.#shares.mayBegin(run.developerId)) continue;
      this.#shares.begin(run.developerId);
      mine.add(run);
    }
    for (const { developerId } of mine) this.#shares.end(developerId);
    return mine;
  }

  /** Begins runs that were written with this process as their owner. */
  take(runs: readonly ClaimedRun[], records: ReadonlyMap<string, StepRecord[]> = new Map()): void {
    for (const run of runs) this.#begin(run, records.get(run.id) ?? []);
  }

  /** Told of each call of the API of this process: runs that wait give way to them. */
  noteCall(): void {
    this.#backlog.noteCall();
  }

  /** Begins nothing more, lets steps under way end, and gives back what is left. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#listener.close();
    await this.#backlog.stop();
    const left = [...this.#active.values()];
    const timer = setTimeout(() => {
      for (const { abort } of left) abort.abort();
    }, STOP_GRACE_MS);
    await Promise.all(left.map(({ work }) => work));
    clearTimeout(timer);
    await this.#release(left.map(({ run }) => run));
    await this.#checkpoints.close();
  }

  #begin(run: ClaimedRun, records: readonly StepRecord[]): void {
    const { maxRunMs } = this.#options;
    const abort = new AbortController();
    const timeUp = (): void => abort.abort(new RunTimeUp(`The run took longer than ${maxRunMs / 60_000} minutes.`));
    const timer = setTimeout(timeUp, Math.min(MAX_TIMER_MS, Math.max(0, maxRunMs - (run.ageMs ?? 0))));
    this.#shares.begin(run.developerId);
    const work = this.#work(run, records, abort.signal).finally(() => {
      clearTimeout(timer);
      this.#active.delete(run.id);
      this.#shares.end(run.developerId);
      this.#backlog.noteRoom();
    });
    this.#active.set(run.id, { run, abort, work });
  }

  /** Never rejects: what was interrupted goes on from its last checkpoint when its lease is over. */
  async #work(run: ClaimedRun, records: readonly StepRecord[], signal: AbortSignal): Promise<void> {
    const { tools, log } = this.#options;
    try {
      await executeRun({
        run,
        records,
        caller: await this.#callerOf(run.developerId),
        checkpoints: this.#checkpoints,
        tools,
        turns: this.#turns,
        signal,
        isStopping: () => this.#isStopping,
      });
    } catch (error) {
      if (signal.aborted && !(signal.reason instanceof RunTimeUp)) return;
      log.error({ err: error, runId: run.id }, `a run was interrupted: ${errorMessage(error)}`);
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
