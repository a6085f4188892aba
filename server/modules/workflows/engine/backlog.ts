import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../../platform/db/index.ts';
import { errorMessage } from '../../../platform/errors/index.ts';
import { claimRuns, readRecords, type ClaimedRun, type StepRecord } from './checkpoint.store.ts';
import { Pace } from './pace.ts';
import type { Shares } from './shares.ts';

interface BacklogOptions {
  database: Database;
  /** Names this process on the runs that it takes on. */
  owner: string;
  shares: Shares;
  /** Ids of the runs that are under way here. */
  activeIds: () => string[];
  /** Begins runs that were taken on, from their checkpoints. */
  take: (runs: readonly ClaimedRun[], records: ReadonlyMap<string, StepRecord[]>) => void;
  log: Logger;
}

/** Takes on runs that wait, as many as there is room for, at the pace that the use of the API leaves them. */
export class Backlog {
  readonly #options: BacklogOptions;
  readonly #pace = new Pace();
  #work: Promise<void> | undefined;
  #mayWait = false;
  #isStopped = false;

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  /** Told of each call of the API of this process: runs that wait give way to them. */
  noteCall(): void {
    this.#pace.noteCall();
  }

  /** Looks for runs that wait. */
  wake(): void {
    this.#mayWait = true;
    if (this.#hasRoom) this.#work ??= this.#takeAll().finally(() => (this.#work = undefined));
  }

  /** A run has ended: looks again if there was no room for others. */
  noteRoom(): void {
    if (this.#mayWait || this.#options.shares.isAnyoneBehind) this.wake();
  }

  /** Takes on no more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  get #hasRoom(): boolean {
    return !this.#isStopped && this.#options.shares.free > 0;
  }

  async #takeAll(): Promise<void> {
    const { database, shares, take, log } = this.#options;
    try {
      while (this.#mayWait && this.#hasRoom) {
        this.#mayWait = false;
        const claimed = await this.#claim();
        if (claimed.length === 0) return;
        take(claimed, await readRecords(database, claimed));
        await sleep(this.#pace.portion().pauseMs);
        this.#mayWait ||= shares.isAnyoneDue;
      }
    } catch (error) {
      log.warn({ err: error }, `runs wait: ${errorMessage(error)}`);
    }
  }

  async #claim(): Promise<ClaimedRun[]> {
    const { database, owner, shares, activeIds } = this.#options;
    const allowances = shares.allowances();
    const allowance = shares.allowance('');
    const limit = Math.min(shares.free, this.#pace.portion().most);
    const runs = await claimRuns(database, { owner, active: activeIds(), allowances, allowance, limit });
    this.#pace.noteWait(Math.max(0, ...runs.map(({ waitedMs }) => waitedMs ?? 0)));
    const byDeveloper = Map.groupBy(runs, ({ developerId }) => developerId);
    if (runs.length === limit) {
      shares.addBehind(byDeveloper.keys());
      return runs;
    }
    const isBehind = ([id, its]: [string, ClaimedRun[]]): boolean => its.length >= (allowances.get(id) ?? allowance);
    shares.noteBehind(new Set([...byDeveloper].filter(isBehind).map(([id]) => id)));
    return runs;
  }
}
