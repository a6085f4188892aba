import type { TSchema } from 'typebox';

/** The keywords of JSON Schema that the document looks at. */
export interface JsonSchema {
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
}

/** A contract's schema with its keywords in sight: a TypeBox schema is plain JSON Schema at run time. */
export function asJsonSchema(schema: TSchema): JsonSchema {
  return schema;
}
