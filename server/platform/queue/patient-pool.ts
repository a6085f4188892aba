import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../db/index.ts';
import { errorMessage } from '../errors/index.ts';

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1000;

type ConnectCallback = (error: Error | undefined, client: PoolClient | undefined, release: () => void) => void;

/**
 * A pool whose statements are repeated until they succeed. The library does not watch the promise in which it notes
 * the end of a job, so that one broken connection there would end the process, and it stops working after a few more.
 * To it, a database that is away is merely slow. Each of its statements bears repetition: jobs are noted by id, and
 * one that was taken without our hearing of it is given back by JobReclaimer.
 */
export class PatientPool {
  readonly #pool: Pool;
  readonly #log: Logger;
  /** Notes on their way, which the next look for a job has to wait for where jobs queue for each other. */
  readonly #notes = new Set<Promise<unknown>>();
  #hasQueues = false;

  constructor(database: Database, log: Logger) {
    this.#pool = database.pool;
    this.#log = log;
  }

  get options(): Pool['options'] {
    return this.#pool.options;
  }

  /** The library looks whether somebody handles errors. */
  listeners(event: 'error' | 'connect'): unknown[] {
    return this.#pool.listeners(event);
  }

  /** From now on a job is looked for only after the ends of earlier ones are noted, which frees their queues. */
  respectQueues(): void {
    this.#hasQueues = true;
  }

  /** With a callback: a connection for LISTEN, which the library repairs itself. Else what runs single statements. */
  connect(callback?: ConnectCallback): Promise<Pick<PoolClient, 'release'> & { query: PatientPool['query'] }> | void {
    if (callback) return this.#pool.connect(callback);
    return Promise.resolve({
      query: (statement: string | QueryConfig, values?: unknown[]) => this.query(statement, values),
      release: () => undefined,
    });
  }

  async query(statement: string | QueryConfig, values?: unknown[]): Promise<QueryResult> {
    const config = typeof statement === 'string' ? { text: statement, values } : statement;
    if (config.text === 'begin') throw new Error('this pool runs single statements alone');
    if (config.name?.startsWith('get_job') === true) {
      if (this.#hasQueues) await Promise.all(this.#notes);
      return this.#repeat(config);
    }
    const note = this.#repeat(config);
    this.#notes.add(note);
    try {
      return await note;
    } finally {
      this.#notes.delete(note);
    }
  }

  /** Never rejects; never settles once the pool is closed. */
  async #repeat(config: QueryConfig): Promise<QueryResult> {
    for (let pauseMs = FIRST_PAUSE_MS; !this.#pool.ended; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        return await this.#pool.query(config);
      } catch (error) {
        if (pauseMs === MAX_PAUSE_MS) this.#log.warn(`the queue waits for the database: ${errorMessage(error)}`);
      }
      await sleep(pauseMs);
    }
    return new Promise(() => undefined);
  }
}

/** Safe because these are all the members of a pool that graphile-worker 0.18 uses; a test runs it through all its life. */
export function asPool(pool: PatientPool): Pool {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return pool as unknown as Pool;
}
