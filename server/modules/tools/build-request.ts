import type { Execution } from '../../../contract/routes/tools.ts';
import { UnbuildableRequest } from './build-failure.ts';
import { bindCredentials, fillCredentials } from './credentials.ts';
import {
  asText,
  emptyRecord,
  fillText,
  fillUrl,
  fillValue,
  placeholdersIn,
  placeholdersInValue,
  queryPairs,
  UnfillablePlaceholder,
} from './placeholders.ts';
import type { ToolBinding } from './tool-definition.ts';

type Input = Readonly<Record<string, unknown>>;

/** An HTTP request as a tool's execution and an input make it. */
export interface ToolRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** Visible Latin-1: no line break, so that a value cannot begin another header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function methodOf({ method, body }: Execution): string {
  return method ?? (body === undefined ? 'GET' : 'POST');
}

/** An absolute address, with a relative one joined to where the owning app lives. */
function absoluteUrl(url: string, binding: ToolBinding): URL {
  if (URL.canParse(url)) return new URL(url);
  if (binding.baseUrl === undefined) {
    throw new UnbuildableRequest('execution.url is relative, and no app gives it a baseUrl (serviceConfig.baseUrl).');
  }
  const base = `${binding.baseUrl.replace(/\/+$/, '')}/`;
  if (!URL.canParse(base)) throw new UnbuildableRequest('The serviceConfig.baseUrl of the app is not a valid URL.');
  const joined = new URL(url.replace(/^\/+/, ''), base);
  if (joined.origin !== new URL(base).origin) throw new UnbuildableRequest('execution.url leads away from its app.');
  return joined;
}

/** Joins the filled address; a last look that its host is the one the definition names. */
function safeUrl(filled: string, template: string, binding: ToolBinding): string {
  const url = absoluteUrl(filled, binding);
  const neutral = absoluteUrl(template.replaceAll(/[{}]/g, ''), binding);
  if (url.origin !== neutral.origin) throw new UnbuildableRequest('The input would change the host of execution.url.');
  return url.href;
}

/** Headers of the app: for its own service, and for no other that one of its tools may call. */
function appHeaders(url: string, { baseUrl, headers = {}, credentials = {} }: ToolBinding): [string, string][] {
  const isElsewhere = baseUrl !== undefined && URL.canParse(baseUrl) && new URL(baseUrl).origin !== new URL(url).origin;
  if (isElsewhere) return [];
  return Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fillCredentials(value, credentials)]);
}

function headersOf(execution: Execution, input: Input, fromApp: readonly [string, string][]): Record<string, string> {
  const headers = emptyRecord<string>();
  for (const [name, value] of fromApp) headers[name] = value;
  for (const [name, template] of Object.entries(execution.headers ?? {})) {
    const filled = fillValue(template, input);
    if (filled === undefined || filled === null) continue;
    const text = asText(filled);
    if (!HEADER_VALUE.test(text)) {
      throw new UnfillablePlaceholder(
        `The header ${name} would hold a line break or a character that headers cannot hold.`,
      );
    }
    headers[name.toLowerCase()] = text;
  }
  return headers;
}

/** Fields of the input that no placeholder of the execution uses. */
function unusedInput({ url = '', headers, params, body }: Execution, input: Input): [string, unknown][] {
  const used = new Set([...placeholdersIn(url), ...[headers, params, body].flatMap(placeholdersInValue)]);
  return Object.entries(input).filter(([name]) => !used.has(name));
}

/**
 * Builds the request: placeholders filled, the rest of the input in the query (GET, DELETE) or, where the execution
 * has no body of its own, in the JSON body. Pure. Throws UnbuildableRequest for the definition's fault and
 * UnfillablePlaceholder for the input's.
 */
export function buildRequest(definition: Execution, given: Input, binding: ToolBinding = {}): ToolRequest {
  const { execution, input } =
    binding.credentials === undefined
      ? { execution: definition, input: given }
      : bindCredentials(definition, given, binding.credentials);
  const template = execution.url;
  if (template === undefined) throw new UnbuildableRequest('execution.url is missing.');
  const method = methodOf(execution);
  const takesQuery = method === 'GET' || method === 'DELETE';
  const rest = unusedInput(execution, input);
  const params = Object.entries(execution.params ?? {}).flatMap(([name, value]) =>
    queryPairs(fillText(name, input), fillValue(value, input)),
  );
  const more = takesQuery ? rest.flatMap(([name, value]) => queryPairs(name, value)) : [];
  const url = safeUrl(fillUrl(template, input, [...params, ...more]), template, binding);
  const headers = headersOf(execution, input, appHeaders(url, binding));
  const isBodyOwn = execution.body !== undefined;
  if (takesQuery && !isBodyOwn) return { method, url, headers };
  const body = JSON.stringify(isBodyOwn ? fillValue(execution.body, input) : Object.fromEntries(rest));
  return { method, url, headers: { 'content-type': 'application/json', ...headers }, body };
}
