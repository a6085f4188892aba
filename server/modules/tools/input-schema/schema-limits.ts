import { AppError } from '../../../platform/errors/index.ts';
import { isObject } from './walk-schema.ts';

/** What an input_schema may cost. Generous for schemas that people write; a bound for those that somebody builds. */
const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
const MAX_NODES = 2000;

/** A schema node looks at an input character at most about once; this many such looks take well under a second. */
const MAX_WORK = 100_000_000;
const MAX_INPUT_BYTES = 1024 * 1024;

/** Objects, lists and list items, however they are used; throws beyond the depth. */
function countNodes(value: unknown, field: string, depth = 1): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (depth > MAX_DEPTH) throw new AppError('INVALID_REQUEST', `${field} is nested deeper than ${MAX_DEPTH} levels.`);
  return Object.values(value).reduce<number>((sum, item) => sum + countNodes(item, field, depth + 1), 1);
}

/** Refuses a schema that is too large to be checked against in bounded time. Gives its number of nodes. */
export function demandSmallSchema(schema: Record<string, unknown>, field: string): number {
  const nodes = countNodes(schema, field);
  if (nodes > MAX_NODES) throw new AppError('INVALID_REQUEST', `${field} has more than ${MAX_NODES} parts.`);
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > MAX_BYTES) throw new AppError('INVALID_REQUEST', `${field} is larger than ${MAX_BYTES} bytes.`);
  if (isObject(schema) && schema['type'] !== undefined && schema['type'] !== 'object') {
    throw new AppError('INVALID_REQUEST', `${field}.type must be "object": a tool's input is an object.`);
  }
  return nodes;
}

/** Why an input is too large to be checked against a schema of so many nodes; undefined when it is not. */
export function oversizeOf(input: unknown, schemaNodes: number): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(input));
  if (bytes > MAX_INPUT_BYTES) return `input is larger than ${MAX_INPUT_BYTES} bytes.`;
  return bytes * schemaNodes > MAX_WORK ? 'input is too large for an input_schema of this size.' : undefined;
}
