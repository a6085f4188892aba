import { hash } from 'node:crypto';
import { LIMITS } from '../../../../contract/shared/limits.ts';
import { isDeeperThan } from '../json-depth.ts';
import { BoundedCache } from './bounded-cache.ts';
import { compileSchema } from './compile-schema.ts';
import { fieldPath } from './field-path.ts';
import { isList, own, SchemaMistake } from './keyword.ts';
import { Run, TooCostly } from './run.ts';

/** Says what is wrong with an input, in sentences that name the fields; undefined when nothing is. */
export type InputValidator = (input: Record<string, unknown>) => string | undefined;

/** Characters of schemas whose compiled forms are kept; those take about ten times as much memory. */
const MAX_KEPT_LENGTH = 1_000_000;

/** By a fingerprint of the schema's text, so that equal schemas share one. */
const kept = new BoundedCache<InputValidator>(MAX_KEPT_LENGTH);
/** Fingerprints of schema objects seen before; weak, so that an object that is let go takes its entry along. */
const fingerprints = new WeakMap<Record<string, unknown>, string>();

/** An input is always an object: a schema that says otherwise could never be met. */
function demandObjectType(schema: Record<string, unknown>): void {
  const type = own(schema, 'type');
  if (type === undefined || type === 'object' || (isList(type) && type.includes('object'))) return;
  throw new SchemaMistake('.type', 'must be "object": the input of a tool is an object');
}

function createValidator(schema: Record<string, unknown>): InputValidator {
  const node = compileSchema(schema);
  demandObjectType(schema);
  return (input) => {
    // Models may send what the HTTP limits never saw.
    if (isDeeperThan(input, LIMITS.jsonDepth)) return `input nests deeper than ${LIMITS.jsonDepth} levels.`;
    const run = new Run();
    try {
      if (node.apply(input, { run, place: undefined, isSilent: false, seen: undefined })) return undefined;
    } catch (error) {
      if (error instanceof TooCostly) return `input cannot be checked: ${error.message}.`;
      throw error;
    }
    return run.issues.map(({ place, complaint }) => `${fieldPath(place)} ${complaint}.`).join(' ');
  };
}

/** Makes a schema ready to check inputs, or finds it ready. Throws SchemaMistake naming the part that is wrong. */
export function compileInputSchema(schema: Record<string, unknown>): InputValidator {
  const fingerprint = fingerprints.get(schema);
  const warm = fingerprint === undefined ? undefined : kept.get(fingerprint);
  if (warm) return warm;
  const text = JSON.stringify(schema);
  const key = hash('sha256', text, 'base64url');
  fingerprints.set(schema, key);
  const known = kept.get(key);
  if (known) return known;
  const validator = createValidator(schema);
  kept.set(key, validator, text.length);
  return validator;
}
