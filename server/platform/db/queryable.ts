import { createHash } from 'node:crypto';

/** SQL text with its values. A `name` makes it a prepared statement: parsed once per connection. */
export interface Statement {
  /** One name stands for one text everywhere; see `prepared`. */
  name?: string;
  text: string;
  values?: readonly unknown[];
}

export interface QueryOutcome<Row> {
  rows: Row[];
  /** Rows given or touched. */
  rowCount: number;
}

/** Whatever runs SQL: the pool, where every statement stands alone, or a transaction. */
export interface Queryable {
  query: <Row = Record<string, unknown>>(statement: Statement) => Promise<QueryOutcome<Row>>;
}

/**
 * Statements that commit together. Made by `Database.transaction` alone: the private field keeps a pool from being
 * passed where a transaction is demanded.
 */
export class Transaction implements Queryable {
  readonly #query: Queryable['query'];

  constructor(query: Queryable['query']) {
    this.#query = query;
  }

  query<Row = Record<string, unknown>>(statement: Statement): Promise<QueryOutcome<Row>> {
    return this.#query<Row>(statement);
  }
}

/** Makes a prepared statement of a text; the name is derived from it, so that one text always has one name. */
export function prepared(text: string): (values?: readonly unknown[]) => Statement {
  const name = `s${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  return (values = []) => ({ name, text, values });
}
