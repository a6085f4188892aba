/** What a cell of a table holds. */
export type Cell =
  | { kind: 'missing' }
  | { kind: 'nested' }
  | { kind: 'integer' | 'number'; value: number; key: string }
  | { kind: 'big integer'; value: bigint; key: string }
  | { kind: 'boolean' | 'date' | 'text'; value: string; key: string };

/** A decimal number as tables write it. Leading zeros make an identifier: 007 is not 7. */
const NUMBER = /^[+-]?(?:0|[1-9]\d*|(?=\.\d))(?:\.\d*)?(?:e[+-]?\d{1,3})?$/i;
const INTEGER = /^[+-]?\d+$/;
/** ISO 8601: a day, alone or with a time, whose order in time is the order of the texts. */
const DATE =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;
const BOOLEAN = /^(?:true|false)$/i;
/** Longer texts are certainly neither number nor date. */
const MAX_SHORT = 40;

function numberCell(value: number): Cell {
  if (!Number.isFinite(value)) return { kind: 'missing' };
  return { kind: Number.isSafeInteger(value) ? 'integer' : 'number', value, key: `#${value}` };
}

function writtenNumber(text: string): Cell {
  if (INTEGER.test(text) && !Number.isSafeInteger(Number(text))) {
    return { kind: 'big integer', value: BigInt(text.replace('+', '')), key: `#${text}` };
  }
  return numberCell(Number(text));
}

function textCell(text: string): Cell {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'missing' };
  const isShort = trimmed.length <= MAX_SHORT;
  const kind = isShort && DATE.test(trimmed) ? 'date' : 'text';
  return { kind, value: trimmed, key: `"${trimmed}` };
}

/** Reads a cell of a text table, in which everything is written as text. */
export function writtenCell(text: string): Cell {
  const trimmed = text.trim();
  if (trimmed.length <= MAX_SHORT && trimmed !== '') {
    if (NUMBER.test(trimmed)) return writtenNumber(trimmed);
    if (BOOLEAN.test(trimmed)) return { kind: 'boolean', value: trimmed.toLowerCase(), key: trimmed.toLowerCase() };
  }
  return textCell(text);
}

/** Reads a value of a JSON table. Texts stay texts, whatever they look like. */
export function jsonCell(value: unknown): Cell {
  if (value === null || value === undefined) return { kind: 'missing' };
  if (typeof value === 'number') return numberCell(value);
  if (typeof value === 'boolean') return { kind: 'boolean', value: String(value), key: String(value) };
  return typeof value === 'string' ? textCell(value) : { kind: 'nested' };
}
