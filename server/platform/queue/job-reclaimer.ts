import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../db/index.ts';
import { errorMessage } from '../errors/index.ts';

/** First half of the advisory locks that stand for living workers; the second is the hash of the worker's id. */
const LOCK_CLASS = 83_773;
const SWEEP_MS = 2000;
const PAUSE_MS = 100;

/** Holders of jobs or queues that no live session vouches for. */
const FIND_DEAD = `with holders as (
    select locked_by from graphile_worker._private_jobs where locked_by is not null
    union select locked_by from graphile_worker._private_job_queues where locked_by is not null
  )
  select locked_by as id from holders where not exists (
    select from pg_locks
    where locktype = 'advisory' and classid = ${LOCK_CLASS} and granted
      and database = (select oid from pg_database where datname = current_database())
      and objid::bigint = hashtext(locked_by)::bigint & 4294967295)`;

/** A job whose worker died gets at least one more attempt: what was accepted is finished, whoever is killed. */
const GIVE_BACK = `with jobs as (
    update graphile_worker._private_jobs
    set locked_at = null, locked_by = null, attempts = least(attempts, max_attempts - 1)
    where locked_by = any($1) returning 1
  ), queues as (
    update graphile_worker._private_job_queues set locked_at = null, locked_by = null where locked_by = any($1)
  )
  select count(*)::int as count, pg_notify('jobs:insert', '{"r":0,"count":' || count(*) || '}') from jobs`;

/**
 * Gives back the jobs of workers that were killed, which the library itself does after four hours. A worker lives as
 * long as a session holds a lock in its name: the system ends the session of a killed process at once. Two looks in a
 * row must find no such session, so that one that is just reconnecting is not taken for dead.
 */
export class JobReclaimer {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #alive = new Set<string>();
  readonly #stop = new AbortController();
  #client: Client | undefined;
  #suspects = new Set<string>();
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
  add(workerId: string): void {
    this.#alive.add(workerId);
    this.#client?.query(...lockQuery(workerId)).catch(() => undefined);
  }

  /** Stops vouching: what the worker still holds is given back. */
  remove(workerId: string): void {
    this.#alive.delete(workerId);
    this.#client?.query(...unlockQuery(workerId)).catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await this.#client?.end();
  }

  async #connect(): Promise<void> {
    const client = await this.#database.connect();
    for (const workerId of this.#alive) await client.query(...lockQuery(workerId));
    this.#suspects.clear();
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined;
    });
    this.#client = client;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#client) await this.#sweep(this.#client);
        else await this.#connect();
        await this.#rest(this.#client ? SWEEP_MS : PAUSE_MS);
      } catch (error) {
        this.#log.debug(`cannot look for jobs of dead workers: ${errorMessage(error)}`);
        await this.#rest(PAUSE_MS);
      }
    }
  }

  /** Sleeps, but wakes early to reconnect: the lock must not be away for long. */
  async #rest(durationMs: number): Promise<void> {
    const client = this.#client;
    const wake = new AbortController();
    const onEnd = (): void => wake.abort();
    client?.once('end', onEnd);
    const signal = AbortSignal.any([this.#stop.signal, wake.signal]);
    await sleep(durationMs, undefined, { signal }).catch(() => undefined);
    client?.off('end', onEnd);
  }

  async #sweep(client: Client): Promise<void> {
    const { rows } = await client.query<{ id: string }>(FIND_DEAD);
    const dead = rows.map(({ id }) => id);
    const certain = dead.filter((id) => this.#suspects.has(id));
    this.#suspects = new Set(dead);
    if (certain.length === 0) return;
    const given = await client.query<{ count: number }>(GIVE_BACK, [certain]);
    this.#log.warn({ workers: certain, jobs: given.rows[0]?.count }, 'gave back the jobs of workers that died');
  }
}

function lockQuery(workerId: string): [string, unknown[]] {
  return ['select pg_try_advisory_lock($1, hashtext($2))', [LOCK_CLASS, workerId]];
}

function unlockQuery(workerId: string): [string, unknown[]] {
  return ['select pg_advisory_unlock($1, hashtext($2))', [LOCK_CLASS, workerId]];
}
