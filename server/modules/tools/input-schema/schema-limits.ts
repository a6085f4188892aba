import { SchemaMistake } from './keyword.ts';

/** Generous for schemas that people write; a bound for those that somebody builds to do harm. */
const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
const MAX_PARTS = 2000;

/** Counts objects, arrays and the members of arrays: a list of a million words is a large schema, too. */
function countParts(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > MAX_DEPTH) throw new SchemaMistake('', `nests deeper than ${MAX_DEPTH} levels`);
  let parts = Array.isArray(value) ? 1 + value.length : 1;
  for (const member of Object.values(value)) {
    parts += countParts(member, depth + 1);
    if (parts > MAX_PARTS) throw new SchemaMistake('', `has more than ${MAX_PARTS} parts`);
  }
  return parts;
}

/** Refuses a schema too large to be handled without harm. Throws SchemaMistake. */
export function checkSchemaLimits(schema: Record<string, unknown>): void {
  countParts(schema, 1);
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) {
    throw new SchemaMistake('', `is larger than ${MAX_BYTES / 1024} kB`);
  }
}
