import {
  OutboundError,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from '../../../platform/net/index.ts';
import { readContent } from '../../tools/index.ts';
import { StepError, type RunNode } from './node-type.ts';
import { optionalObject, optionalText, requiredText } from './read-config.ts';

type Config = Record<string, unknown>;

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 5 * 1024 * 1024;

/** Ids of nodes may hold any characters, headers only those of ASCII. */
function asHeaderValue(id: string): string {
  return id.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Names in lower case. A header that is null is left out. */
export function headersOf(config: Config): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(optionalObject(config, 'headers') ?? {})) {
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new StepError(`config.headers.${name} must be a text or a number.`);
    }
    headers.set(name.toLowerCase(), String(value));
  }
  return headers;
}

/** The address with the params behind its own query; a list repeats its name, and null is left out. */
export function urlOf(config: Config): string {
  const text = requiredText(config, 'url');
  const params = Object.entries(optionalObject(config, 'params') ?? {});
  if (params.length === 0 || !URL.canParse(text)) return text;
  const url = new URL(text);
  for (const [name, value] of params) {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    for (const item of values) {
      if (item === undefined || item === null) continue;
      if (!isScalar(item)) throw new StepError(`config.params.${name} must be a text, a number, a boolean or a list.`);
      url.searchParams.append(name, String(item));
    }
  }
  return url.href;
}

interface Body {
  text: string;
  type: string;
}

/** A text goes out as it is, anything else as JSON; null is no body. */
function bodyOf({ body }: Config): Body | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return { text: body, type: 'text/plain; charset=utf-8' };
  return { text: JSON.stringify(body), type: 'application/json' };
}

function buildRequest(config: Config, attemptId: string): Omit<OutboundRequest, 'signal'> {
  const url = urlOf(config);
  const headers = headersOf(config);
  const body = bodyOf(config);
  if (body && !headers.has('content-type')) headers.set('content-type', body.type);
  if (!headers.has('idempotency-key')) headers.set('idempotency-key', asHeaderValue(attemptId));
  return {
    method: optionalText(config, 'method') ?? (body ? 'POST' : 'GET'),
    url,
    headers: Object.fromEntries(headers),
    ...(body && { body: body.text }),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    redirects: 'follow',
  };
}

/** The step's result. Throws StepError, with what there is of one, for a bad status and a body that is none. */
function readResponse(response: OutboundResponse): unknown {
  const { status, headers, url } = response;
  const content = readContent(response);
  const result = { status, headers, body: 'error' in content ? null : content.result };
  const { host } = new URL(url);
  if (status >= 400) throw new StepError(`HTTP ${status} from ${host}.`, result);
  if ('error' in content) throw new StepError(`HTTP ${status} from ${host}: ${content.error}`, result);
  return result;
}

/**
 * {method?, url, headers?, params?, body?}: sends a request and gives {status, headers, body}, where a body that is JSON
 * is parsed and an empty one null. A status of 400 or more is a failure.
 */
export function createHttpRequest(outbound: Outbound): RunNode {
  return async (config, { ctx, attemptId }) => {
    const request = buildRequest(config, attemptId);
    try {
      return readResponse(await outbound.request({ ...request, signal: ctx.signal }));
    } catch (error) {
      if (error instanceof OutboundError) throw new StepError(error.message);
      throw error;
    }
  };
}
