import { Client, Pool, type PoolClient, type PoolConfig } from 'pg';
import { columnTypes } from './column-types.ts';
import { translateError } from './database-error.ts';
import { withClient } from './lend-connection.ts';
import type { Queryable, Statement, Transaction } from './queryable.ts';
import { runAlone, runTransaction } from './run-statements.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Later than the server's own limit: only for a server that vanished without closing the connection. */
const ANSWER_TIMEOUT_MS = 35_000;
/** For a server that vanished and never closes its side. */
const CLOSE_TIMEOUT_MS = 1000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

export interface Database extends Queryable {
  /** Commits what `run` did when it resolves, undoes it when it throws. */
  transaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  /** A connection outside the pool and without its time limits, for session locks and LISTEN. The caller ends it. */
  connect: () => Promise<Client>;
  /** For libraries that bring their own SQL. */
  pool: Pool;
  stats: () => { total: number; idle: number; waiting: number };
  /** Waits for running statements and lets go of every connection. */
  close: () => Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  maxConnections: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Told of connections that broke; they are replaced at next need. */
  onError: (error: Error) => void;
}

function connectionConfig({ url, applicationName }: DatabaseOptions) {
  return {
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: columnTypes,
  } satisfies PoolConfig;
}

function openPool(options: DatabaseOptions): Pool {
  const pool = new Pool({
    ...connectionConfig(options),
    max: options.maxConnections,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  });
  // An idle connection reports to the pool, one in use to itself; without a listener either ends the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', options.onError));
  return pool;
}

async function connect(options: DatabaseOptions): Promise<Client> {
  const client = new Client(connectionConfig(options));
  client.on('error', options.onError);
  try {
    await client.connect();
    return client;
  } catch (error) {
    throw translateError(error);
  }
}

/** The pool says that it has ended before its connections have: a server that is stopped then would still report to them. */
function watchEnds(pool: Pool): () => Promise<void> {
  const open = new Set<PoolClient>();
  pool.on('connect', (client) => open.add(client));
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  pool.on('remove', (client) => {
    open.delete(client);
    if (pool.ended && open.size === 0) resolve();
  });
  return async () => {
    await pool.end();
    if (open.size === 0) return;
    const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  };
}

/** Opens a pool. Connects at first need; statements fail with AppError UNAVAILABLE while there is no database. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = openPool(options);
  const close = watchEnds(pool);
  return {
    query: <Row>(statement: Statement) => withClient(pool, (client) => runAlone<Row>(client, statement)),
    transaction: (body) => withClient(pool, (client) => runTransaction(client, body)),
    connect: () => connect(options),
    pool,
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close,
  };
}
