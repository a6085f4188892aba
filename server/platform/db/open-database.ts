import { Client, Pool, type PoolClient, type PoolConfig, type QueryResultRow } from 'pg';
import { columnTypes } from './column-types.ts';
import { breaksConnection, translateError } from './database-error.ts';
import { Transaction, type Queryable, type QueryOutcome, type Statement } from './queryable.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Later than the server's own limit: only for a server that vanished without closing the connection. */
const ANSWER_TIMEOUT_MS = 35_000;
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

/** Safe as long as the text's columns are what the caller declares; nothing at run time could say more. */
function asRows<Row>(rows: QueryResultRow[]): Row[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return rows as Row[];
}

async function run<Row>(client: PoolClient, { name, text, values }: Statement): Promise<QueryOutcome<Row>> {
  const result = await client.query<QueryResultRow>({
    ...(name === undefined ? {} : { name }),
    text,
    ...(values === undefined ? {} : { values: [...values] }),
  });
  return { rows: asRows<Row>(result.rows), rowCount: result.rowCount ?? 0 };
}

/** Lends a connection; one that broke is closed instead of given back. */
async function withClient<T>(pool: Pool, use: (client: PoolClient) => Promise<T>): Promise<T> {
  let client: PoolClient | undefined;
  let isBroken = false;
  try {
    client = await pool.connect();
    return await use(client);
  } catch (error) {
    isBroken = breaksConnection(error);
    throw translateError(error);
  } finally {
    client?.release(isBroken);
  }
}

async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query('commit');
  // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error.
  if (command !== 'COMMIT') throw new Error('the transaction had failed, so nothing was committed');
}

/** Undoes; a connection on which even that fails is closed, which undoes as well. */
async function rollback(client: PoolClient): Promise<void> {
  try {
    await client.query('rollback');
  } catch {
    client.on('error', () => undefined);
    await client.end().catch(() => undefined);
  }
}

async function runTransaction<T>(client: PoolClient, body: (tx: Transaction) => Promise<T>): Promise<T> {
  let isOpen = true;
  const tx = new Transaction(async <Row>(statement: Statement) => {
    if (!isOpen) throw new Error('the transaction has ended');
    try {
      return await run<Row>(client, statement);
    } catch (error) {
      throw breaksConnection(error) ? error : translateError(error);
    }
  });
  await client.query('begin');
  try {
    const result = await body(tx);
    isOpen = false;
    await commit(client);
    return result;
  } catch (error) {
    isOpen = false;
    await rollback(client);
    throw error;
  }
}

/** Opens a pool. Connects at first need; statements fail with AppError UNAVAILABLE while there is no database. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = openPool(options);
  return {
    query: <Row>(statement: Statement) => withClient(pool, (client) => run<Row>(client, statement)),
    transaction: (body) => withClient(pool, (client) => runTransaction(client, body)),
    connect: () => connect(options),
    pool,
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  };
}
