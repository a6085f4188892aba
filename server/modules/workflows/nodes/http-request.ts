import { OutboundError, type Outbound, type OutboundResponse } from '../../../platform/net/index.ts';
import { StepError, type RunNode } from './node-type.ts';
import { optionalObject, optionalText, requiredText } from './read-config.ts';

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 5 * 1024 * 1024;

function scalar(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new StepError(`config.${field} must be a text or a number.`);
}

function urlOf(config: Record<string, unknown>): string {
  const given = requiredText(config, 'url');
  const params = Object.entries(optionalObject(config, 'params') ?? {}).filter(([, value]) => (value ?? null) !== null);
  if (params.length === 0) return given;
  if (!URL.canParse(given)) throw new StepError(`config.url is not an address: ${given.slice(0, 200)}`);
  const url = new URL(given);
  for (const [name, value] of params) {
    for (const each of Array.isArray(value) ? value : [value])
      url.searchParams.append(name, scalar(each, `params.${name}`));
  }
  return url.href;
}

/** Texts go as they are, anything else as JSON. */
function bodyOf(config: Record<string, unknown>): { body?: string; contentType?: string } {
  const body = config['body'];
  if (body === undefined || body === null) return {};
  if (typeof body === 'string') return { body, contentType: 'text/plain; charset=utf-8' };
  return { body: JSON.stringify(body), contentType: 'application/json' };
}

function parsed({ headers, body }: OutboundResponse): unknown {
  const text = body.toString('utf8');
  const isJson = /[/+]json\b/i.test(headers['content-type'] ?? '') || /^\s*[[{]/.test(text);
  if (!isJson) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * {method?, url, headers?, params?, body?}: {status, headers, body} of the answer. A status from 400 on is a failure
 * that keeps its answer.
 */
export function createHttpRequest(outbound: Outbound): RunNode {
  return async (config, { ctx, attemptId }) => {
    const { body, contentType } = bodyOf(config);
    const headers: Record<string, string> = { 'idempotency-key': attemptId };
    if (contentType !== undefined) headers['content-type'] = contentType;
    for (const [name, value] of Object.entries(optionalObject(config, 'headers') ?? {})) {
      headers[name.toLowerCase()] = scalar(value, `headers.${name}`);
    }
    try {
      const response = await outbound.request({
        method: optionalText(config, 'method') ?? (body === undefined ? 'GET' : 'POST'),
        url: urlOf(config),
        headers,
        ...(body !== undefined && { body }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
        redirects: 'follow',
        signal: ctx.signal,
      });
      const result = { status: response.status, headers: response.headers, body: parsed(response) };
      if (response.status < 400) return result;
      throw new StepError(`HTTP ${response.status} from ${new URL(response.url).host}.`, result);
    } catch (error) {
      if (error instanceof OutboundError) throw new StepError(error.message);
      throw error;
    }
  };
}
