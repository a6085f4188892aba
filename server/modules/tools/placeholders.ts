type Input = Readonly<Record<string, unknown>>;

/** `{name}`, but not `{{name}}`; the name holds no braces, white space or quotes, so that JSON text is left alone. */
const PLACEHOLDER = /(?<!\{)\{([^{}\s"':,]+)\}(?!\})/g;
const WHOLE = /^\{([^{}\s"':,]+)\}$/;

/** The input cannot fill a placeholder; the message says which, and why. */
export class UnfillablePlaceholder extends Error {}

/** A record without a prototype, for keys that users choose. */
export function emptyRecord<T>(): Record<string, T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is empty, so it holds nothing of another type
  return Object.create(null) as Record<string, T>;
}

/** A value of the input; own properties only, so that `{constructor}` names nothing. Null is as good as absent. */
function valueOf(input: Input, name: string): unknown {
  return Object.hasOwn(input, name) ? (input[name] ?? undefined) : undefined;
}

/** A value as text: strings as they are, everything else as JSON, what is absent as nothing. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Names of the placeholders in a text. */
export function placeholdersIn(text: string): string[] {
  return Array.from(text.matchAll(PLACEHOLDER), (match) => match[1] ?? '');
}

/** Names of all placeholders in the strings of a value. */
export function placeholdersInValue(value: unknown): string[] {
  if (typeof value === 'string') return placeholdersIn(value);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(placeholdersInValue);
}

/** The text with each placeholder replaced by what `fill` makes of its name. */
export function replacePlaceholders(template: string, fill: (name: string) => string): string {
  return template.replaceAll(PLACEHOLDER, (_match, name: string) => fill(name));
}

/** Fills a text; what is absent leaves nothing. */
export function fillText(template: string, input: Input): string {
  return replacePlaceholders(template, (name) => asText(valueOf(input, name)));
}

/**
 * Fills the strings of a value. A string that is one placeholder becomes the value itself, type kept; where that is
 * absent it is left out, of its list or object too.
 */
export function fillValue(template: unknown, input: Input): unknown {
  if (typeof template === 'string') {
    const whole = WHOLE.exec(template)?.[1];
    return whole === undefined ? fillText(template, input) : valueOf(input, whole);
  }
  if (Array.isArray(template)) {
    return template.map((item) => fillValue(item, input)).filter((item) => item !== undefined);
  }
  if (typeof template !== 'object' || template === null) return template;
  const filled = emptyRecord<unknown>();
  for (const [key, value] of Object.entries(template)) filled[key] = fillValue(value, input);
  return filled;
}

function encode(value: unknown): string {
  return encodeURIComponent(asText(value).toWellFormed());
}

/** Fills the path of a url. Each value is one step, or part of one: never empty, and never a step up. */
function fillPath(template: string, input: Input): string {
  return replacePlaceholders(template, (name) => {
    const text = asText(valueOf(input, name));
    if (text === '') throw new UnfillablePlaceholder(`input.${name} is required: it is part of the path.`);
    if (text === '.' || text === '..') {
      throw new UnfillablePlaceholder(`input.${name} must not be "${text}": it is part of the path.`);
    }
    return encode(text);
  });
}

/** One `name=value` for each value: a list repeats the name, what is absent leaves nothing. */
export function queryPairs(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.map((item) => `${encode(name)}=${encode(item)}`);
}

/** Fills one `name=value` of a url's own query; text without placeholders stays as its author wrote it. */
function fillPair(pair: string, input: Input): string[] {
  if (placeholdersIn(pair).length === 0) return [pair];
  const [name = '', value = ''] = pair.split(/=(.*)/s, 2);
  const whole = WHOLE.exec(value)?.[1];
  if (whole === undefined) return [replacePlaceholders(pair, (placeholder) => encode(valueOf(input, placeholder)))];
  return queryPairs(fillText(decodeURIComponent(name), input), valueOf(input, whole));
}

/** Fills a url template: values are percent-encoded, and `more` pairs are added to its query. */
export function fillUrl(template: string, input: Input, more: readonly string[]): string {
  const [beforeFragment = ''] = template.split('#', 1);
  const [path = '', query = ''] = beforeFragment.split(/\?(.*)/s, 2);
  const own = query === '' ? [] : query.split('&').flatMap((pair) => fillPair(pair, input));
  const pairs = [...own, ...more];
  return fillPath(path, input) + (pairs.length === 0 ? '' : `?${pairs.join('&')}`);
}
