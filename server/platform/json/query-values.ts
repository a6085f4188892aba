import type { TSchema } from 'typebox';

const INTEGER = /^-?\d+$/u;
const DECIMAL = /^-?\d+(?:\.\d+)?$/u;
const BOOLEANS = new Map<unknown, boolean>([
  ['true', true],
  ['false', false],
]);

function typeOf(schema: unknown): unknown {
  return typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : undefined;
}

function convert(schema: unknown, text: unknown): unknown {
  if (typeof text !== 'string') return text;
  switch (typeOf(schema)) {
    case 'integer':
      return INTEGER.test(text) ? Number(text) : text;
    case 'number':
      return DECIMAL.test(text) ? Number(text) : text;
    case 'boolean':
      return BOOLEANS.get(text) ?? text;
    default:
      return text;
  }
}

/**
 * The values of a query, which are all text, as the types of its schema. What does not spell such a value exactly stays
 * text, for the check to refuse: `1.5` is not quietly the integer 1.
 */
export function queryValues(schema: TSchema, query: unknown): unknown {
  const properties: unknown = 'properties' in schema ? schema.properties : undefined;
  if (typeof query !== 'object' || query === null || typeof properties !== 'object' || properties === null)
    return query;
  const schemas = new Map<string, unknown>(Object.entries(properties));
  return Object.fromEntries(Object.entries(query).map(([name, text]) => [name, convert(schemas.get(name), text)]));
}
