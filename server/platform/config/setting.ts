import { Secret } from './secret.ts';

/** One setting: how its text in the environment becomes a value, and what the reference page says of it. */
export interface Setting<T> {
  doc: string;
  /** What the reference page shows as the value that applies when nothing is set. */
  defaultText: string;
  /** What may be written, for the reference page. */
  accepts: string;
  isSecret: boolean;
  /** Gives the value for the text of the environment; throws an Error whose message says what is wrong. */
  parse: (raw: string | undefined) => T;
}

interface Options<D> {
  doc: string;
  default: D;
  /** Replaces the default on the reference page, where it is computed or long. */
  defaultText?: string;
}

function setting<T, D>(options: Options<D>, accepts: string, parse: (raw: string) => T): Setting<T | D> {
  const shown = Array.isArray(options.default) ? options.default.join(',') : String(options.default ?? 'none');
  return {
    doc: options.doc,
    defaultText: options.defaultText ?? shown,
    accepts,
    isSecret: false,
    parse: (raw) => (raw === undefined || raw.trim() === '' ? options.default : parse(raw.trim())),
  };
}

export function text<D extends string | undefined>(options: Options<D>): Setting<string | D> {
  return setting(options, 'text', (raw) => raw);
}

export function integer(options: Options<number> & { min: number; max: number }): Setting<number> {
  const { min, max } = options;
  return setting(options, `integer ${min} to ${max}`, (raw) => {
    const value = Number(raw);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new Error(`must be an integer from ${min} to ${max}, but is "${raw}"`);
    }
    return value;
  });
}

export function oneOf<const V extends string>(values: readonly V[], options: Options<V>): Setting<V> {
  return setting(options, values.join(', '), (raw) => {
    const found = values.find((value) => value === raw);
    if (found === undefined) throw new Error(`must be one of ${values.join(', ')}, but is "${raw}"`);
    return found;
  });
}

export function boolean(options: Options<boolean>): Setting<boolean> {
  return setting(options, '1 or 0', (raw) => {
    if (['1', 'true', 'yes', 'on'].includes(raw.toLowerCase())) return true;
    if (['0', 'false', 'no', 'off'].includes(raw.toLowerCase())) return false;
    throw new Error(`must be 1 or 0, but is "${raw}"`);
  });
}

/** An address with one of the given schemes. Kept as text, without a trailing slash. Never echoed: it may hold a password. */
export function url<D extends string | undefined>(
  schemes: readonly string[],
  options: Options<D>,
): Setting<string | D> {
  return setting(options, `${schemes.join(' or ')} URL`, (raw) => {
    const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
    if (!parsed || !schemes.includes(parsed.protocol.slice(0, -1))) {
      throw new Error(`must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
    }
    return raw.replace(/\/+$/, '');
  });
}

export function list(options: Options<string[]>): Setting<string[]> {
  return setting(options, 'comma-separated list', (raw) =>
    raw
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
}

/** Text that is never printed. `check` throws an Error when the value cannot be right; it must not repeat the value. */
export function secret(options: {
  doc: string;
  defaultText?: string;
  check?: (value: string) => void;
}): Setting<Secret | undefined> {
  const declared = setting({ ...options, default: undefined }, 'secret text', (raw) => {
    options.check?.(raw);
    return new Secret(raw);
  });
  return { ...declared, isSecret: true };
}
