import { AppError } from '../../platform/errors/index.ts';

type Input = Readonly<Record<string, unknown>>;

/** `{name}`; the name may hold anything but braces, white space and quotes, so that JSON text is left alone. */
const PLACEHOLDER = /\{([^{}\s"':,]+)\}/g;
const WHOLE = /^\{([^{}\s"':,]+)\}$/;

/** A value that a placeholder names is missing where it cannot be left out. */
export class MissingParameter extends Error {
  constructor(name: string) {
    super(`The parameter "${name}" is missing.`);
    this.name = 'MissingParameter';
  }
}

/** A value of the input; own properties only, so that `{constructor}` names nothing. */
function valueOf(input: Input, name: string): unknown {
  return Object.hasOwn(input, name) ? input[name] : undefined;
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

/** Fills a text; what is absent leaves nothing. */
export function fillText(template: string, input: Input): string {
  return template.replaceAll(PLACEHOLDER, (_match, name: string) => asText(valueOf(input, name)));
}

/**
 * Fills the strings of a value. A string that is one placeholder becomes the value itself, type kept, and is left out
 * (undefined) when that is absent.
 */
export function fillValue(template: unknown, input: Input): unknown {
  if (typeof template === 'string') {
    const whole = WHOLE.exec(template)?.[1];
    return whole === undefined ? fillText(template, input) : valueOf(input, whole);
  }
  if (Array.isArray(template)) return template.map((item) => fillValue(item, input));
  if (typeof template !== 'object' || template === null) return template;
  const filled: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(template)) filled[key] = fillValue(value, input);
  return filled;
}

/** Fills a url. Values are percent-encoded, must be there, and may not be path steps of their own. */
export function fillUrl(template: string, input: Input): string {
  return template.replaceAll(PLACEHOLDER, (_match, name: string) => {
    const value = valueOf(input, name);
    if (value === undefined || value === null) throw new MissingParameter(name);
    const text = asText(value);
    if (text === '.' || text === '..') throw new MissingParameter(name);
    return encodeURIComponent(text.toWellFormed());
  });
}

/** Refuses a url template whose placeholders could choose where the request goes. */
export function demandFixedHost(template: string, field: string): void {
  const authority = /^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i.exec(template)?.[0] ?? '';
  const startsOpen = /^\{/.test(template) || /^[^/?#]*\{[^}]*\}[^/?#]*:/.test(template);
  if (placeholdersIn(authority).length === 0 && !startsOpen) return;
  throw new AppError(
    'INVALID_REQUEST',
    `${field} must not have placeholders before the path: they could change the host.`,
  );
}
