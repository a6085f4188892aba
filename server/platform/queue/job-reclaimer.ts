import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, QueryResult } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../db/index.ts';
import { errorMessage } from '../errors/index.ts';

/** First half of the advisory locks that stand for living workers; the second is the hash of the worker's id. */
const LOCK_CLASS = 83_773;
const SWEEP_MS = 2000;
const PAUSE_MS = 100;

/** Jobs that are taken, but by a worker for which no session vouches, or by one of ours that does not run them. */
const FIND_ORPHANS = `select id::text || ' ' || attempts || ' ' || locked_by as key, id::text
  from graphile_worker._private_jobs
  where locked_by is not null and (
    (locked_by = any($1::text[]) and id <> all($2::bigint[]))
    or not exists (
      select from pg_locks
      where locktype = 'advisory' and classid = ${LOCK_CLASS} and granted
        and database = (select oid from pg_database where datname = current_database())
        and objid::bigint = hashtext(locked_by)::bigint & 4294967295))`;

/** An orphan gets at least one more attempt: what was accepted is finished, whoever is killed. */
const GIVE_BACK = `with orphans as (
    select id, job_queue_id, locked_by from graphile_worker._private_jobs
    where id = any($1::bigint[]) and locked_by is not null for update skip locked
  ), queues as (
    update graphile_worker._private_job_queues q set locked_at = null, locked_by = null
    from orphans o where q.id = o.job_queue_id and q.locked_by = o.locked_by
  ), jobs as (
    update graphile_worker._private_jobs j
    set locked_at = null, locked_by = null, attempts = least(attempts, max_attempts - 1)
    from orphans o where j.id = o.id
  )
  select pg_notify('jobs:insert', '{"r":0,"count":' || count(*) || '}') from orphans`;

/**
 * Gives back jobs whose worker was killed, or never heard that it had got them because its connection broke; the
 * library does that after four hours. A worker lives as long as a session holds a lock in its name: the system ends
 * the session of a killed process at once. Two looks in a row must agree, so that neither a worker that is just
 * reconnecting nor a job that is just ending is taken for an orphan.
 */
export class JobReclaimer {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #workers = new Set<string>();
  readonly #running = new Set<string>();
  readonly #stop = new AbortController();
  #client: Client | undefined;
  #suspects = new Set<string>();
  #statements: Promise<unknown> = Promise.resolve();
  #loop: Promise<void> = Promise.resolve();

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  async start(): Promise<void> {
    await this.#connect();
    this.#loop = this.#run();
  }

  /** Vouches for a worker of this process. */
  addWorker(id: string): void {
    this.#workers.add(id);
    this.#send(lockQuery(id)).catch(() => undefined);
  }

  /** Stops vouching: what the worker still holds is given back. */
  removeWorker(id: string): void {
    this.#workers.delete(id);
    this.#send(unlockQuery(id)).catch(() => undefined);
  }

  /** Runs a job of one of our workers, known as running meanwhile. */
  async during<T>(jobId: string, run: () => Promise<T>): Promise<T> {
    this.#running.add(jobId);
    try {
      return await run();
    } finally {
      this.#running.delete(jobId);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await this.#client?.end();
  }

  /** The connection takes one statement at a time. */
  #send<Row extends object>(
    statement: [string, unknown[]],
    client = this.#client,
  ): Promise<QueryResult<Row> | undefined> {
    const result = this.#statements.then(() => client?.query<Row>(...statement));
    this.#statements = result.catch(() => undefined);
    return result;
  }

  async #connect(): Promise<void> {
    const client = await this.#database.connect();
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined;
    });
    this.#client = client;
    this.#suspects.clear();
    for (const id of this.#workers) await this.#send(lockQuery(id), client);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#client) await this.#sweep(this.#client);
        else await this.#connect();
      } catch (error) {
        this.#log.debug(`cannot look for orphaned jobs: ${errorMessage(error)}`);
      }
      await this.#rest();
    }
  }

  /** Sleeps, but not long while disconnected: nobody vouches for our workers then. */
  async #rest(): Promise<void> {
    const wake = new AbortController();
    const onEnd = (): void => wake.abort();
    this.#client?.once('end', onEnd);
    const signal = AbortSignal.any([this.#stop.signal, wake.signal]);
    await sleep(this.#client ? SWEEP_MS : PAUSE_MS, undefined, { signal }).catch(() => undefined);
    this.#client?.off('end', onEnd);
  }

  async #sweep(client: Client): Promise<void> {
    const known = [[...this.#workers], [...this.#running]];
    const { rows = [] } = (await this.#send<{ key: string; id: string }>([FIND_ORPHANS, known], client)) ?? {};
    // A job may have begun while the query was on its way.
    const orphans = rows.filter(({ id }) => !this.#running.has(id));
    const certain = orphans.filter(({ key }) => this.#suspects.has(key)).map(({ id }) => id);
    this.#suspects = new Set(orphans.map(({ key }) => key));
    if (certain.length === 0) return;
    await this.#send([GIVE_BACK, [certain]], client);
    this.#log.warn({ jobs: certain }, 'gave back jobs whose worker was lost');
  }
}

function lockQuery(workerId: string): [string, unknown[]] {
  return ['select pg_try_advisory_lock($1, hashtext($2))', [LOCK_CLASS, workerId]];
}

function unlockQuery(workerId: string): [string, unknown[]] {
  return ['select pg_advisory_unlock($1, hashtext($2))', [LOCK_CLASS, workerId]];
}
