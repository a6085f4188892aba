import { Type, type TSchema } from 'typebox';
import { LIMITS } from './limits.ts';

/** Any JSON object, kept as it came. */
export const JsonObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

/** Any JSON value. */
export const JsonValue = Type.Unsafe<unknown>({});

export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T08:15:30.123Z'] });

/** No control characters: a name has to fit on a line, in a log and in a path. */
export const PRINTABLE = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

/** A name or id that the caller chooses. */
export function Name(options: { description: string; examples: string[] }) {
  return Type.String({ minLength: 1, maxLength: LIMITS.nameLength, pattern: PRINTABLE, ...options });
}

/** Text of some length, or empty. */
export function Text(options: { description: string; examples?: string[]; maxLength?: number }) {
  return Type.String({ maxLength: LIMITS.descriptionLength, ...options });
}

/** One of a list of words, in the plain `enum` form that every JSON Schema reader knows. */
export function OneOf<const V extends string>(
  values: readonly V[],
  options: { description?: string; default?: V } = {},
) {
  return Type.Unsafe<V>({ type: 'string', enum: [...values], ...options });
}

/** The answer of every deletion. */
export const Success = Type.Object({ success: Type.Literal(true) });

/** A path with one placeholder. */
export function PathParam<const N extends string>(name: N, description: string) {
  return asRecordOf<N>(Type.Object({ [name]: Type.String({ minLength: 1, description }) }));
}

/** Safe because the object was just built with exactly that property. */
function asRecordOf<N extends string>(schema: TSchema) {
  return Type.Unsafe<Record<N, string>>(schema);
}
