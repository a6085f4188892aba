import type { PoolClient, QueryResultRow } from 'pg';
import { breaksConnection, translateError } from './database-error.ts';
import { StaleConnection } from './lend-connection.ts';
import { Transaction, type QueryOutcome, type Statement } from './queryable.ts';

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

/** The driver refuses without sending anything. */
const NOT_SENT = 'Client has encountered a connection error and is not queryable';

/** Runs one statement outside of transactions. */
export async function runAlone<Row>(client: PoolClient, statement: Statement): Promise<QueryOutcome<Row>> {
  try {
    return await run<Row>(client, statement);
  } catch (error) {
    throw error instanceof Error && error.message === NOT_SENT
      ? new StaleConnection(NOT_SENT, { cause: error })
      : error;
  }
}

async function begin(client: PoolClient): Promise<void> {
  try {
    await client.query('begin');
  } catch (error) {
    throw breaksConnection(error) ? new StaleConnection('begin', { cause: error }) : error;
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

/** Commits what `body` did when it resolves, undoes it when it throws. */
export async function runTransaction<T>(client: PoolClient, body: (tx: Transaction) => Promise<T>): Promise<T> {
  let isOpen = true;
  const tx = new Transaction(async <Row>(statement: Statement) => {
    if (!isOpen) throw new Error('the transaction has ended');
    try {
      return await run<Row>(client, statement);
    } catch (error) {
      throw breaksConnection(error) ? error : translateError(error);
    }
  });
  await begin(client);
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
