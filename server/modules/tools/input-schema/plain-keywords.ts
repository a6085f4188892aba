import { canonicalText } from './canonical-text.ts';
import { FORMATS } from './formats.ts';
import { demandCount, demandNumber, demandText, isList, SchemaMistake, type Keyword } from './keyword.ts';
import { mismatch, Run, type Check } from './run.ts';

const TYPES = new Map<string, (value: unknown) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
  ['array', (value) => Array.isArray(value)],
  ['object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)],
]);

function withArticle(name: string): string {
  if (name === 'null') return name;
  return /^[aeio]/.test(name) ? `an ${name}` : `a ${name}`;
}

const type: Keyword = (value, { schema, where }) => {
  const names = typeof value === 'string' ? [value] : value;
  if (!isList(names) || names.length === 0) throw new SchemaMistake(where, 'must name a type');
  // `nullable` is how OpenAPI 3.0 says it, and common in schemas that were made from such documents.
  const all = schema['nullable'] === true ? [...names, 'null'] : names;
  const tests = all.map((name) => {
    const test = typeof name === 'string' ? TYPES.get(name) : undefined;
    if (!test) throw new SchemaMistake(where, `must be of ${[...TYPES.keys()].join(', ')}`);
    return test;
  });
  const complaint = `must be ${all.map(String).map(withArticle).join(' or ')}`;
  return (input, visit) => tests.some((test) => test(input)) || mismatch(visit, complaint);
};

/** Equality with one of some values. Building the texts of the values is paid for by the size limits of schemas. */
function oneOfValues(values: readonly unknown[], complaint: string): Check {
  const free = new Run(Infinity);
  const plain = new Set(values.filter((value) => typeof value !== 'object' || value === null));
  const deep = new Set(
    values.filter((value) => typeof value === 'object' && value !== null).map((value) => canonicalText(value, free)),
  );
  return (input, visit) => {
    const isDeep = typeof input === 'object' && input !== null;
    if (typeof input === 'string') visit.run.spend(input.length / 16);
    const isAmong = isDeep ? deep.size > 0 && deep.has(canonicalText(input, visit.run)) : plain.has(input);
    return isAmong || mismatch(visit, complaint);
  };
}

const MAX_SHOWN_LENGTH = 200;

function shown(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ');
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

const enumeration: Keyword = (value, { where }) => {
  if (!isList(value)) throw new SchemaMistake(where, 'must be an array');
  return oneOfValues(value, `must be one of ${shown(value)}`);
};

const constant: Keyword = (value) => oneOfValues([value], `must be ${shown([value])}`);

function numberLimit(passes: (input: number, limit: number) => boolean, words: string): Keyword {
  return (value, { where }) => {
    const limit = demandNumber(value, where);
    return (input, visit) => typeof input !== 'number' || passes(input, limit) || mismatch(visit, `${words} ${limit}`);
  };
}

/** Decimal fractions have no exact binary form: 0.3 is a multiple of 0.1 although 0.3 / 0.1 is not whole. */
function isMultiple(input: number, of: number): boolean {
  if (input % of === 0) return true;
  const quotient = input / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient)) && Math.abs(quotient) < 1e9;
}

const multipleOf: Keyword = (value, context) => {
  if (demandNumber(value, context.where) <= 0) throw new SchemaMistake(context.where, 'must be greater than 0');
  return numberLimit(isMultiple, 'must be a multiple of')(value, context);
};

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) length++;
  }
  return length;
}

function lengthLimit(passes: (length: number, limit: number) => boolean, words: string): Keyword {
  return (value, { where }) => {
    const limit = demandCount(value, where);
    return (input, visit) => {
      if (typeof input !== 'string') return true;
      visit.run.spend(input.length / 16);
      return passes(lengthOf(input), limit) || mismatch(visit, `${words} ${limit} characters`);
    };
  };
}

const pattern: Keyword = (value, context) => {
  const text = demandText(value, context.where);
  const { test, stepsPerCharacter } = context.pattern(text, context.where);
  return (input, visit) => {
    if (typeof input !== 'string') return true;
    visit.run.spend((input.length + 1) * stepsPerCharacter);
    return test(input) || mismatch(visit, `must match the pattern ${text}`);
  };
};

const format: Keyword = (value, { where }) => {
  const name = demandText(value, where);
  const test = FORMATS.get(name);
  // A format nobody here knows says something to readers and nothing to us, as the standard has it.
  if (!test) return undefined;
  return (input, visit) => {
    if (typeof input !== 'string') return true;
    visit.run.spend(1 + input.length);
    return test(input) || mismatch(visit, `must be in the format ${name}`);
  };
};

/** Keywords about a value as a whole, numbers and strings. */
export const PLAIN_KEYWORDS: readonly [string, Keyword][] = [
  ['type', type],
  ['enum', enumeration],
  ['const', constant],
  ['minimum', numberLimit((input, limit) => input >= limit, 'must be at least')],
  ['maximum', numberLimit((input, limit) => input <= limit, 'must be at most')],
  ['exclusiveMinimum', numberLimit((input, limit) => input > limit, 'must be greater than')],
  ['exclusiveMaximum', numberLimit((input, limit) => input < limit, 'must be less than')],
  ['multipleOf', multipleOf],
  ['minLength', lengthLimit((length, limit) => length >= limit, 'must have at least')],
  ['maxLength', lengthLimit((length, limit) => length <= limit, 'must have at most')],
  ['pattern', pattern],
  ['format', format],
];
