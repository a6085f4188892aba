import { hash } from 'node:crypto';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { AppError, errorMessage } from '../../../platform/errors/index.ts';
import { linearRegExp } from './linear-regexp.ts';
import { demandSmallSchema, oversizeOf } from './schema-limits.ts';
import { mapSchema } from './walk-schema.ts';

/** Says what is wrong with an input, in a sentence that begins with the field; undefined when nothing is. */
export type InputValidator = (input: unknown) => string | undefined;

/** References followed in one validation. A schema that needs more grows without bound somewhere. */
const FUEL = 100_000;
const FUEL_KEYWORD = 'x-tessera-fuel';
const MAX_KEPT = 1000;

class OutOfFuel extends Error {}

let fuel = 0;

const OPTIONS: Options = {
  strict: false,
  allErrors: false,
  // Inlining copies what is referenced twice twice: forty doublings would be a program of terabytes.
  inlineRefs: false,
  addUsedSchema: false,
  logger: false,
  code: { regExp: linearRegExp },
};

function burn(): boolean {
  if (--fuel < 0) throw new OutOfFuel();
  return true;
}

/** Ajv's own compares every pair of items; this looks each up. Objects count as equal in any order of keys. */
function hasUniqueItems(isWanted: boolean, items: unknown[]): boolean {
  return !isWanted || new Set(items.map(canonicalJson)).size === items.length;
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function prepareCompiler<A extends Ajv | Ajv2020>(ajv: A): A {
  addFormats.default(ajv, { mode: 'fast' });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: hasUniqueItems });
  ajv.addKeyword({ keyword: FUEL_KEYWORD, before: '$ref', schemaType: 'boolean', errors: false, validate: burn });
  return ajv;
}

const compilers: { draft7?: Ajv; draft2020?: Ajv2020 } = {};

/** The compiler for the draft that the schema names; 2020-12 when it names none. */
function compilerFor(schema: Record<string, unknown>): Ajv | Ajv2020 {
  const isDraft7 = typeof schema['$schema'] === 'string' && /json-schema\.org\/draft-0[67]\//.test(schema['$schema']);
  if (isDraft7) return (compilers.draft7 ??= prepareCompiler(new Ajv(OPTIONS)));
  return (compilers.draft2020 ??= prepareCompiler(new Ajv2020(OPTIONS)));
}

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

/** A copy that burns fuel at each reference, and whose references all lead to schemas inside it. */
function safeCopy(schema: Record<string, unknown>, field: string): Record<string, unknown> {
  const targets = new Set<string>();
  const references: string[] = [];
  const copy = mapSchema(schema, (node, pointer) => {
    targets.add(pointer);
    for (const anchor of [node['$anchor'], node['$dynamicAnchor']]) targets.add(`#${String(anchor)}`);
    // The root's own id and draft name nothing here; an id further down would move what references mean.
    if (pointer !== '#' && typeof node['$id'] === 'string') {
      throw new AppError('INVALID_REQUEST', `${field}: $id inside a schema is not supported (at ${pointer}).`);
    }
    const { $id: _id, $schema: _schema, id: _oldId, ...rest } = node;
    const found = REFERENCES.flatMap((keyword) => (typeof node[keyword] === 'string' ? [node[keyword]] : []));
    references.push(...found);
    return found.length === 0 ? rest : { ...rest, [FUEL_KEYWORD]: true };
  });
  for (const reference of references) {
    if (targets.has(decodeFragment(reference))) continue;
    throw new AppError('INVALID_REQUEST', `${field}: the reference "${reference}" leads to no schema inside it.`);
  }
  return asSchema(copy);
}

/** Safe because a schema object is copied to a schema object. */
function asSchema(copy: unknown): Record<string, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return copy as Record<string, unknown>;
}

function decodeFragment(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

function explain(error: ErrorObject | undefined): string {
  const path = error?.instancePath.split('/').slice(1).join('.') ?? '';
  const detail = error?.keyword === 'enum' ? ` (${JSON.stringify(error.params['allowedValues'])})` : '';
  return `input${path === '' ? '' : `.${path}`} ${error?.message ?? 'breaks the input_schema'}${detail}.`;
}

function run(validate: ValidateFunction, input: unknown): string | undefined {
  fuel = FUEL;
  try {
    return validate(input) ? undefined : explain(validate.errors?.[0]);
  } catch (error) {
    // A stack that ran out is the same finding as fuel that did: a schema that refers to itself without end.
    if (error instanceof OutOfFuel || error instanceof RangeError) {
      return 'input cannot be checked: the input_schema refers to itself too often.';
    }
    throw error;
  }
}

function compile(schema: Record<string, unknown>, field: string): InputValidator {
  const nodes = demandSmallSchema(schema, field);
  const copy = safeCopy(schema, field);
  const compiler = compilerFor(schema);
  try {
    const validate = compiler.compile(copy);
    return (input) => oversizeOf(input, nodes) ?? run(validate, input);
  } catch (error) {
    throw new AppError('INVALID_REQUEST', `${field} is not a valid JSON Schema: ${errorMessage(error)}.`, {
      cause: error,
    });
  } finally {
    // The compiler would remember every schema it ever met.
    compiler.removeSchema(copy);
  }
}

const byObject = new WeakMap<Record<string, unknown>, InputValidator>();
const byText = new Map<string, InputValidator>();

/**
 * The validator of an input_schema, compiled once. Bounded for any schema and input: size, depth, references followed,
 * and patterns in linear time. Throws AppError INVALID_REQUEST, naming `field`, for a schema that cannot be used.
 */
export function inputValidator(schema: Record<string, unknown>, field = 'input_schema'): InputValidator {
  const known = byObject.get(schema);
  if (known) return known;
  const id = hash('sha256', JSON.stringify(schema), 'base64url');
  const validator = byText.get(id) ?? compile(schema, field);
  byText.delete(id);
  byText.set(id, validator);
  const oldest = byText.size > MAX_KEPT ? byText.keys().next().value : undefined;
  if (oldest !== undefined) byText.delete(oldest);
  byObject.set(schema, validator);
  return validator;
}
