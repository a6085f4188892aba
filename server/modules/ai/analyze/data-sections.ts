import { jsonCell } from './cell-kind.ts';
import { csvTable } from './csv-table.ts';
import type { Row } from './profile-table.ts';

/** A part of the data that is shown on its own, and cut between its pieces when it is too large. */
export interface DataSection {
  /** The member of the object that it is; undefined for all of it. */
  name: string | undefined;
  /** What a piece is. */
  unit: 'rows' | 'items' | 'members' | 'characters';
  /** Always shown, before the pieces. */
  head: string;
  /** Complete lines of text, in order. A section of characters has one piece. */
  pieces: () => Iterable<string>;
  /** For a table: all of its rows. */
  rows?: () => Iterable<Row>;
}

type JsonObject = Record<string, unknown>;
export type Data = JsonObject | readonly unknown[] | string;

/** Members of an object that are as long as this have a section of their own, if they are not too many. */
const LARGE_MEMBER = 2000;
const MAX_SECTIONS = 20;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function* map<T, R>(items: Iterable<T>, make: (item: T) => R): Generator<R> {
  for (const item of items) yield make(item);
}

function rowOf(row: JsonObject): Row {
  return Object.entries(row).map(([name, value]) => [name, jsonCell(value)] as const);
}

function listSection(list: readonly unknown[], name?: string): DataSection {
  const section = { name, head: '', pieces: () => map(list, (item) => JSON.stringify(item)) };
  const rows = list.filter(isObject);
  const isTable = rows.length > 0 && rows.length === list.length;
  return isTable ? { ...section, unit: 'rows', rows: () => map(rows, rowOf) } : { ...section, unit: 'items' };
}

function textSection(text: string, name?: string): DataSection {
  const table = csvTable(text);
  if (!table) return { name, unit: 'characters', head: '', pieces: () => [text] };
  return { name, unit: 'rows', head: table.header, pieces: table.records, rows: table.rows };
}

/** Lists and long texts of an object stand on their own; the rest of its members stand together. */
function objectSections(object: JsonObject): DataSection[] {
  const members = Object.entries(object).map(([name, value]) => ({ name, value, json: JSON.stringify(value) }));
  const large = members.filter(({ value, json }) => json.length >= LARGE_MEMBER || Array.isArray(value));
  const own = new Set(large.length > MAX_SECTIONS ? [] : large);
  const others = members.filter((member) => !own.has(member));
  const pieces = () => map(others, ({ name, json }) => `${JSON.stringify(name)}: ${json}`);
  return [
    ...(others.length > 0 || members.length === 0
      ? [{ name: undefined, unit: 'members' as const, head: '', pieces }]
      : []),
    ...Array.from(own, ({ name, value, json }) => {
      if (Array.isArray(value)) return listSection(value, name);
      return textSection(typeof value === 'string' ? value : json, name);
    }),
  ];
}

/** What a text holds when it is JSON; undefined for any other text, and for single values. */
function parsedJson(text: string): JsonObject | unknown[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) || isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Takes data apart into what can be shown, profiled and cut. JSON inside a text is read as such. */
export function dataSections(data: Data): DataSection[] {
  const value = typeof data === 'string' ? (parsedJson(data) ?? data) : data;
  if (typeof value === 'string') return [textSection(value)];
  return isObject(value) ? objectSections(value) : [listSection(asList(value))];
}

/** Safe because everything else was told apart before. */
function asList(value: JsonObject | readonly unknown[]): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
