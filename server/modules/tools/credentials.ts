import type { Execution } from '../../../contract/routes/tools.ts';
import { UnbuildableRequest } from './build-failure.ts';

const CREDENTIAL = /\{\{\s*credentials\.([^{}]+?)\s*\}\}/g;

type Credentials = Readonly<Record<string, string>>;

/** Names of the credentials that the strings of a value ask for, each once. */
export function credentialsIn(value: unknown): string[] {
  if (typeof value === 'string') return [...new Set(Array.from(value.matchAll(CREDENTIAL), (match) => match[1] ?? ''))];
  if (typeof value !== 'object' || value === null) return [];
  return [...new Set(Object.values(value).flatMap(credentialsIn))];
}

function credentialOf(credentials: Credentials, name: string): string {
  const value = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
  if (value === undefined) throw new UnbuildableRequest(`The credential "${name}" is not configured.`);
  return value;
}

/** The text with every `{{credentials.name}}` filled. Throws UnbuildableRequest for one that is not there. */
export function fillCredentials(template: string, credentials: Credentials): string {
  return template.replaceAll(CREDENTIAL, (_match, name: string) => credentialOf(credentials, name));
}

/** A value with the strings in it changed. */
function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapText(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapText(member, change)]));
}

/** Begins the names of inputs that stand for credentials; in the way of no name that a schema can have on purpose. */
const MARK = '\u0001';

/**
 * An execution with plain placeholders instead of `{{credentials.name}}`, and the input that fills them. Everything is
 * filled in one go, so that no value of the input can ask for a credential, and no credential for a value.
 */
export function bindCredentials(
  execution: Execution,
  input: Readonly<Record<string, unknown>>,
  credentials: Credentials,
): { execution: Execution; input: Readonly<Record<string, unknown>> } {
  const { headers, params, body } = execution;
  const names = credentialsIn({ headers, params, body });
  if (names.length === 0) return { execution, input };
  const toPlaceholder = (text: string): string =>
    text.replaceAll(CREDENTIAL, (_match, name: string) => `{${MARK}${names.indexOf(name)}}`);
  const values = names.map((name, index): [string, string] => [`${MARK}${index}`, credentialOf(credentials, name)]);
  return {
    execution: { ...execution, ...asParts(mapText({ headers, params, body }, toPlaceholder)) },
    input: { ...input, ...Object.fromEntries(values) },
  };
}

/** Safe because only strings changed, into strings, below parts that may hold any JSON. */
function asParts(parts: unknown): Pick<Execution, 'headers' | 'params' | 'body'> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return parts as Pick<Execution, 'headers' | 'params' | 'body'>;
}
