import { StepError } from './node-type.ts';

type Config = Record<string, unknown>;

/** A text that must be there. Throws StepError that names the field. */
export function requiredText(config: Config, name: string): string {
  const value = config[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new StepError(
    value === undefined ? `config.${name} is missing.` : `config.${name} must be a text that is not empty.`,
  );
}

/** A text that may be absent. Throws StepError that names the field. */
export function optionalText(config: Config, name: string): string | undefined {
  const value = config[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new StepError(`config.${name} must be a text.`);
}

/** An object that may be absent. Throws StepError that names the field. */
export function optionalObject(config: Config, name: string): Record<string, unknown> | undefined {
  const value = config[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && !Array.isArray(value)) return asRecord(value);
  throw new StepError(`config.${name} must be an object.`);
}

/** Safe because an object that is no array is a record. */
function asRecord(value: object): Record<string, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as Record<string, unknown>;
}
