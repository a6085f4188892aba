import type { ChartData, StatData } from '../../../../contract/routes/apps.ts';

/** The result of a source cannot be shown; the message says why. */
export class UnusableResult extends Error {}

const MAX_POINTS = 5000;
/** Where services put the rows of a list, in the order they are looked for. */
const LIST_KEYS = ['data', 'rows', 'items', 'points', 'results', 'values', 'records', 'list'];
const STAT_KEYS = ['value', 'total', 'count', 'amount', 'number', 'result'];
const LABEL_KEYS = ['label', 'name', 'date', 'day', 'month', 'time', 'timestamp', 'x', 'category', 'key', 'title'];

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A number, or a text that spells one. */
function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function scalarOf(value: unknown): number | string | undefined {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : asNumber(value);
}

/** The first of the keys, else the first number that there is. */
function statValue(result: Record<string, unknown>): number | string | undefined {
  const known = STAT_KEYS.map((key) => (Object.hasOwn(result, key) ? scalarOf(result[key]) : undefined));
  const found = known.find((value) => value !== undefined);
  return found ?? Object.values(result).find((value) => typeof value === 'number');
}

/**
 * One number, or one word: of a scalar itself, of an object its `value` (or total, count ...), else its first number,
 * of a list how many there are. Throws UnusableResult.
 */
export function shapeStat(result: unknown): StatData {
  if (Array.isArray(result)) return { value: result.length };
  if (!isRecord(result)) {
    const value = scalarOf(result);
    if (value === undefined) throw new UnusableResult('The source gave no value.');
    return { value };
  }
  const inner = isRecord(result['data']) ? result['data'] : result;
  const value = statValue(inner);
  if (value === undefined) throw new UnusableResult('The source gave no number: an object with "value" would do.');
  const { unit, change } = inner;
  return {
    value,
    ...(typeof unit === 'string' ? { unit } : {}),
    ...(typeof change === 'number' ? { change } : {}),
  };
}

function labelOf(value: unknown, index: number): string {
  if (value === undefined || value === null) return String(index + 1);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function valuesOf(value: unknown): (number | null)[] {
  return Array.isArray(value) ? value.map((item) => asNumber(item) ?? null) : [];
}

/** Rows that are objects: one key labels them, every other that holds numbers is a series. */
function fromRecords(rows: readonly Record<string, unknown>[]): ChartData {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const isNumeric = (key: string): boolean => {
    const given = rows.map((row) => row[key]).filter((value) => value !== undefined && value !== null);
    return given.length > 0 && given.every((value) => asNumber(value) !== undefined);
  };
  const labelKey = LABEL_KEYS.find((key) => keys.includes(key)) ?? keys.find((key) => !isNumeric(key));
  const series = keys.filter((key) => key !== labelKey && isNumeric(key));
  return {
    labels: rows.map((row, index) => labelOf(labelKey === undefined ? undefined : row[labelKey], index)),
    series: series.map((name) => ({ name, values: rows.map((row) => asNumber(row[name]) ?? null) })),
  };
}

/** Rows of a list: objects, pairs of a label and a number, or numbers. */
function fromRows(rows: readonly unknown[]): ChartData {
  if (rows.every(isRecord)) return fromRecords(rows);
  if (rows.every((row): row is unknown[] => Array.isArray(row))) {
    const width = Math.max(0, ...rows.map((row) => row.length));
    return {
      labels: rows.map((row, index) => labelOf(row[0], index)),
      series: Array.from({ length: Math.max(0, width - 1) }, (_, column) => ({
        name: width === 2 ? 'value' : String(column + 1),
        values: rows.map((row) => asNumber(row[column + 1]) ?? null),
      })),
    };
  }
  const values = valuesOf(rows);
  const isEmpty = values.every((value) => value === null);
  return { labels: rows.map((_, index) => String(index + 1)), series: isEmpty ? [] : [{ name: 'value', values }] };
}

/** `{labels, values}`, or `{labels, series: [{name, values or data}]}`. */
function fromColumns(labels: readonly unknown[], result: Record<string, unknown>): ChartData {
  const columns: unknown = result['series'] ?? result['datasets'];
  const series = (Array.isArray(columns) ? columns : [{ name: 'value', values: result['values'] ?? result['data'] }])
    .filter(isRecord)
    .map((column, index) => ({
      name: labelOf(column['name'] ?? column['label'], index),
      values: valuesOf(column['values'] ?? column['data']),
    }));
  return {
    labels: labels.map(labelOf),
    series: series.map(({ name, values }) => ({ name, values: labels.map((_, index) => values[index] ?? null) })),
  };
}

function fromRecord(result: Record<string, unknown>): ChartData {
  const labels = result['labels'] ?? result['categories'];
  if (Array.isArray(labels)) return fromColumns(labels, result);
  const listKey = LIST_KEYS.find((key) => Array.isArray(result[key]));
  const list = listKey === undefined ? Object.values(result).find((value) => Array.isArray(value)) : result[listKey];
  if (Array.isArray(list)) return fromRows(list);
  if (isRecord(result['data'])) return fromRecord(result['data']);
  const entries = Object.entries(result).filter(([, value]) => asNumber(value) !== undefined);
  return {
    labels: entries.map(([label]) => label),
    series: [{ name: 'value', values: entries.map(([, value]) => asNumber(value) ?? null) }],
  };
}

/**
 * Labels and series, for line, bar and area charts: of rows, of columns, or of an object of numbers. A pie takes the
 * first series alone. Throws UnusableResult where there is no number at all.
 */
export function shapeChart(result: unknown, chartType: string): ChartData {
  if (typeof result !== 'object' || result === null) {
    throw new UnusableResult('The source gave no list: rows of objects with numbers would do.');
  }
  const { labels, series } = Array.isArray(result) ? fromRows(result) : fromRecord(asRecord(result));
  if (labels.length > MAX_POINTS) throw new UnusableResult(`The source gave more than ${MAX_POINTS} points.`);
  if (series.length === 0 && labels.length > 0) throw new UnusableResult('The source gave no numbers.');
  return { labels, series: chartType === 'pie' ? series.slice(0, 1) : series };
}

/** Safe because it is an object, and no list. */
function asRecord(result: object): Record<string, unknown> {
  return isRecord(result) ? result : {};
}
