import type { JsonSchema } from './json-schema.ts';

function exampleOfObject({ properties = {}, required = [] }: JsonSchema): object | undefined {
  const examples = Object.entries(properties).map(([name, schema]) => ({ name, value: exampleOf(schema) }));
  const made = examples.filter(({ value }) => value !== undefined);
  const madeNames = new Set(made.map(({ name }) => name));
  if (!required.every((name) => madeNames.has(name))) return undefined;
  return Object.fromEntries(made.map(({ name, value }) => [name, value]));
}

function exampleOfArray({ items = {} }: JsonSchema): unknown[] | undefined {
  const item = exampleOf(items);
  return item === undefined ? undefined : [item];
}

function exampleOfType(schema: JsonSchema): unknown {
  if (schema.type === 'object') return exampleOfObject(schema);
  if (schema.type === 'array') return exampleOfArray(schema);
  if (schema.type === 'boolean') return true;
  return schema.type === 'null' ? null : undefined;
}

/**
 * A value that fits the schema, made of the examples, defaults and listed values that the schema itself states.
 * Optional fields without any are left out; undefined when a required one has none.
 */
export function exampleOf(schema: JsonSchema): unknown {
  if (schema.examples !== undefined && schema.examples.length > 0) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return alternatives.map(exampleOf).find((example) => example !== undefined);
  return exampleOfType(schema);
}

/** Some events of a stream, in a plausible order: the schema's examples, else one of each kind. */
export function exampleEvents(schema: JsonSchema): unknown[] {
  if (schema.examples !== undefined && schema.examples.length > 0) return schema.examples;
  const kinds = schema.anyOf ?? schema.oneOf ?? [schema];
  return kinds.map(exampleOf).filter((example) => example !== undefined);
}
