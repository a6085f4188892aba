type JsonObject = Record<string, unknown>;

/** Keywords whose value is a schema, a list of schemas, or schemas under names that the author chooses. */
const ONE = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LISTS = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
const MAPS = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties']);

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A step in a JSON Pointer (RFC 6901). */
function step(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/**
 * Copies a schema and passes each schema object in it (not values such as `enum` or `default`) to `visit` with its
 * JSON Pointer. What `visit` returns takes the object's place; the given schema is left as it is.
 */
export function mapSchema(
  schema: unknown,
  visit: (node: JsonObject, pointer: string) => JsonObject,
  pointer = '#',
): unknown {
  if (!isObject(schema)) return schema;
  const copy: JsonObject = Object.create(null);
  for (const [key, value] of Object.entries(schema))
    copy[key] = mapKeyword(key, value, { visit, pointer: step(pointer, key) });
  return visit(copy, pointer);
}

interface Walk {
  visit: (node: JsonObject, pointer: string) => JsonObject;
  pointer: string;
}

function mapKeyword(key: string, value: unknown, { visit, pointer }: Walk): unknown {
  if (LISTS.has(key) && Array.isArray(value)) {
    return value.map((item, index) => mapSchema(item, visit, step(pointer, index)));
  }
  if (MAPS.has(key) && isObject(value)) {
    const copy: JsonObject = Object.create(null);
    for (const [name, item] of Object.entries(value)) copy[name] = mapSchema(item, visit, step(pointer, name));
    return copy;
  }
  return ONE.has(key) ? mapSchema(value, visit, pointer) : value;
}
