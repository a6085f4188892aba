import type { Execution } from '../../../contract/routes/tools.ts';
import type { ToolBinding } from './tool-definition.ts';
import { asText, fillText, fillUrl, fillValue, placeholdersIn, placeholdersInValue } from './placeholders.ts';

type Input = Readonly<Record<string, unknown>>;

/** An HTTP request as a tool's execution and an input make it. */
export interface ToolRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** The input or the tool's definition does not make a request; the message says why. */
export class UnbuildableRequest extends Error {}

function methodOf({ method, body }: Execution): string {
  return method ?? (body === undefined ? 'GET' : 'POST');
}

/** An absolute address, with a relative one joined to where the owning app lives. */
function absoluteUrl(url: string, binding: ToolBinding): URL {
  const base = binding.baseUrl === undefined ? undefined : `${binding.baseUrl.replace(/\/+$/, '')}/`;
  if (URL.canParse(url)) return new URL(url);
  if (base === undefined) {
    throw new UnbuildableRequest('execution.url is relative, and no app gives it a baseUrl (serviceConfig.baseUrl).');
  }
  if (!URL.canParse(base)) throw new UnbuildableRequest('The serviceConfig.baseUrl of the app is not a valid URL.');
  const joined = new URL(url.replace(/^\/+/, ''), base);
  if (joined.origin !== new URL(base).origin) throw new UnbuildableRequest('execution.url leads away from its app.');
  return joined;
}

function filledUrl(template: string, input: Input, binding: ToolBinding): URL {
  const url = absoluteUrl(fillUrl(template, input), binding);
  const neutral = absoluteUrl(template.replaceAll(/[{}]/g, ''), binding);
  if (url.origin !== neutral.origin) throw new UnbuildableRequest('The input would change the host of execution.url.');
  return url;
}

/** Adds one query parameter: a list repeats the name, nothing adds nothing. */
function addToQuery(url: URL, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  const values: unknown[] = Array.isArray(value) ? value : [value];
  for (const item of values) url.searchParams.append(name, asText(item));
}

function headersOf(execution: Execution, input: Input, binding: ToolBinding): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(binding.headers ?? {})) headers[name.toLowerCase()] = value;
  for (const [name, template] of Object.entries(execution.headers ?? {})) {
    const filled = fillValue(template, input);
    if (filled !== undefined) headers[name.toLowerCase()] = asText(filled);
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
 * has no body of its own, in the JSON body. Pure. Throws UnbuildableRequest or MissingParameter.
 */
export function buildRequest(execution: Execution, input: Input, binding: ToolBinding = {}): ToolRequest {
  if (execution.url === undefined) throw new UnbuildableRequest('execution.url is missing.');
  const method = methodOf(execution);
  const url = filledUrl(execution.url, input, binding);
  for (const [name, template] of Object.entries(execution.params ?? {})) {
    addToQuery(url, fillText(name, input), fillValue(template, input));
  }
  const rest = unusedInput(execution, input);
  const takesQuery = method === 'GET' || method === 'DELETE';
  if (takesQuery) for (const [name, value] of rest) addToQuery(url, name, value);
  const headers = headersOf(execution, input, binding);
  const isBodyOwn = execution.body !== undefined;
  if (takesQuery && !isBodyOwn) return { method, url: url.href, headers };
  const body = JSON.stringify(isBodyOwn ? fillValue(execution.body, input) : Object.fromEntries(rest));
  return { method, url: url.href, headers: { 'content-type': 'application/json', ...headers }, body };
}
