import Papa from 'papaparse';
import { writtenCell } from './cell-kind.ts';
import type { Row } from './profile-table.ts';

/** A table that was given as text. */
export interface CsvTable {
  /** The line of names, as it was written. */
  header: string;
  /** The other records as they were written; a record may span lines. */
  records: () => Iterable<string>;
  rows: () => Iterable<Row>;
}

const DELIMITERS = [',', ';', '\t', '|'];
/** Records by which a table is recognised. */
const SAMPLE = 20;
const MAX_HEADER_CELL = 200;
const MAX_HEADER = 20_000;
const RECORDS_AT_A_TIME = 200;
const NUMERIC = /^[+-]?[\d.,]+%?$/;

function count(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) found++;
  return found;
}

/** The records of a text, one after the other: a line break inside quotes does not end one. Blank lines are left out. */
function* recordsOf(text: string): Generator<string> {
  let start = 0;
  let lineStart = 0;
  let isOpen = false;
  while (lineStart < text.length) {
    const lineBreak = text.indexOf('\n', lineStart);
    const end = lineBreak === -1 ? text.length : lineBreak;
    if (count(text.slice(lineStart, end), '"') % 2 === 1) isOpen = !isOpen;
    lineStart = end + 1;
    if (isOpen && lineStart < text.length) continue;
    const record = text.slice(start, end).replace(/\r$/, '');
    start = lineStart;
    if (record.trim() !== '') yield record;
  }
}

function parse(records: readonly string[], delimiter: string): string[][] {
  return Papa.parse<string[]>(records.join('\n'), { delimiter, newline: '\n' }).data;
}

/** The names in the first record, when the sample looks like a table with a header in that delimiter. */
function headerNames(sample: readonly string[], delimiter: string): string[] | undefined {
  const [names = [], ...rows] = parse(sample, delimiter);
  const isTable = names.length >= 2 && rows.length > 0 && rows.every((row) => row.length === names.length);
  const isHeader = names.every((name) => !NUMERIC.test(name.trim()) && name.length <= MAX_HEADER_CELL);
  return isTable && isHeader ? names : undefined;
}

/** Names of columns, each different from the others and none blank. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((given, index) => {
    const name = given.trim() || `column ${index + 1}`;
    let unique = name;
    for (let copy = 2; taken.has(unique); copy++) unique = `${name} (${copy})`;
    taken.add(unique);
    return unique;
  });
}

function* batches(records: Iterable<string>): Generator<string[]> {
  let batch: string[] = [];
  for (const record of records) {
    batch.push(record);
    if (batch.length < RECORDS_AT_A_TIME) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function* without(records: Iterable<string>, leading: number): Generator<string> {
  let index = 0;
  for (const record of records) if (index++ >= leading) yield record;
}

/** The table that a text is: separated values under a line of names. Undefined for any other text. */
export function csvTable(given: string): CsvTable | undefined {
  const text = given.replace(/^\uFEFF/, '');
  const sample: string[] = [];
  for (const record of recordsOf(text)) {
    sample.push(record);
    if (sample.length === SAMPLE) break;
  }
  const [header = ''] = sample;
  if (header.length > MAX_HEADER) return undefined;
  const found = DELIMITERS.flatMap((delimiter) => {
    const names = headerNames(sample, delimiter);
    return names ? [{ delimiter, names }] : [];
  }).toSorted((a, b) => b.names.length - a.names.length)[0];
  if (!found) return undefined;
  const names = uniqueNames(found.names);
  const records = () => without(recordsOf(text), 1);
  return {
    header,
    records,
    *rows() {
      for (const batch of batches(records())) {
        for (const cells of parse(batch, found.delimiter)) {
          yield cells.map((cell, index) => [names[index] ?? `column ${index + 1}`, writtenCell(cell)] as const);
        }
      }
    },
  };
}
