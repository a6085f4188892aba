import type { Check } from './run.ts';
import type { SchemaNode } from './schema-node.ts';

/** A schema that cannot be used; `where` names the part, such as `.properties.age.minimum`. */
export class SchemaMistake extends Error {
  readonly where: string;

  constructor(where: string, message: string) {
    super(message);
    this.where = where;
  }
}

/** What a keyword needs to become a check. */
export interface KeywordContext {
  /** The schema that holds the keyword. */
  schema: Readonly<Record<string, unknown>>;
  /** Path of the keyword. */
  where: string;
  subschema: (schema: unknown, where: string) => SchemaNode;
  reference: (target: string, where: string) => SchemaNode;
  pattern: (text: string, where: string) => LinearPattern;
}

/** A regular expression whose time grows with the text alone. */
export interface LinearPattern {
  test: (text: string) => boolean;
  /** Most steps that a character can cost. */
  stepsPerCharacter: number;
}

/** Makes the check of a keyword, or none when its value asks for nothing. Throws SchemaMistake. */
export type Keyword = (value: unknown, context: KeywordContext) => Check | undefined;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The value of a property that is the object's own: names that callers choose never reach a prototype. */
export function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function demandNumber(value: unknown, where: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new SchemaMistake(where, 'must be a number');
  return value;
}

/** A count: a whole number, zero or more. */
export function demandCount(value: unknown, where: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
    throw new SchemaMistake(where, 'must be a whole number, zero or more');
  }
  return value;
}

export function demandText(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new SchemaMistake(where, 'must be a string');
  return value;
}

export function demandTexts(value: unknown, where: string): string[] {
  if (!isList(value)) throw new SchemaMistake(where, 'must be an array of strings');
  return value.map((item, index) => demandText(item, `${where}[${index}]`));
}

export function demandObject(value: unknown, where: string): [string, unknown][] {
  if (!isObject(value)) throw new SchemaMistake(where, 'must be an object');
  return Object.entries(value);
}

/** A list of schemas with at least one. */
export function demandSchemas(value: unknown, { where, subschema }: KeywordContext): SchemaNode[] {
  if (!isList(value) || value.length === 0) throw new SchemaMistake(where, 'must be an array of at least one schema');
  return value.map((item, index) => subschema(item, `${where}[${index}]`));
}
