import { setImmediate } from 'node:timers/promises';
import type { Cell } from './cell-kind.ts';
import { ColumnProfile } from './column-profile.ts';

/** One row: what it holds, by the names of columns. A column that a row leaves out is missing there. */
export type Row = Iterable<readonly [string, Cell]>;

/** Rows after which other requests get their turn. */
const ROWS_AT_A_TIME = 1000;
/** Columns that are counted, and columns that are shown. */
const MAX_COLUMNS = 1000;
const MAX_SHOWN_COLUMNS = 200;
const MAX_NAME_LENGTH = 100;

function shownName(name: string): string {
  return JSON.stringify(name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name);
}

/**
 * Describes a table column by column, from all of its rows: types, how many values are there, missing and distinct,
 * and where they lie. The same table gives the same text. Throws the signal's reason when it is aborted.
 */
export async function profileTable(rows: Iterable<Row>, signal: AbortSignal): Promise<string> {
  const columns = new Map<string, ColumnProfile>();
  let count = 0;
  let hasMoreColumns = false;
  for (const row of rows) {
    count++;
    for (const [name, cell] of row) {
      const column = columns.get(name) ?? (columns.size < MAX_COLUMNS ? new ColumnProfile() : undefined);
      if (!column) {
        hasMoreColumns = true;
        continue;
      }
      columns.set(name, column);
      column.add(cell);
    }
    if (count % ROWS_AT_A_TIME !== 0) continue;
    await setImmediate();
    signal.throwIfAborted();
  }
  const shown = [...columns].slice(0, MAX_SHOWN_COLUMNS);
  const total = `${hasMoreColumns ? `over ${MAX_COLUMNS}` : columns.size} columns`;
  const omitted = shown.length < columns.size ? [`(only the first ${shown.length} columns are described)`] : [];
  return [
    `${count} rows, ${total}`,
    ...shown.map(([name, column]) => `${shownName(name)}: ${column.describe(count)}`),
    ...omitted,
  ].join('\n');
}
