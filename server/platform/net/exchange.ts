import type { Pool } from 'undici';
import { responseHeaders, withoutCredentials, type Headers } from './headers.ts';
import { OutboundError } from './outbound-error.ts';
import { ACCEPT_ENCODING, readBody } from './read-body.ts';

export interface OutboundRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** Milliseconds for everything: redirects, connecting, and the whole body. */
  timeoutMs: number;
  /** Bytes of the answer, as sent and as decoded. */
  maxBytes: number;
  /** `refuse` gives the redirect itself as the answer; `follow` checks and calls where it leads, a few times. */
  redirects: 'refuse' | 'follow';
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  headers: Record<string, string>;
  /** Decoded. */
  body: Buffer;
  /** Where the answer came from, after redirects. */
  url: string;
}

/** One request of an exchange; a redirect makes another. */
export interface Hop {
  method: string;
  url: URL;
  headers: Headers;
  body: string | Uint8Array | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Sends one request and reads its answer. Throws what undici throws, or OutboundError for an answer of no use. */
export async function send(
  pool: Pool,
  hop: Hop,
  limits: { signal: AbortSignal; maxBytes: number },
): Promise<OutboundResponse> {
  const answer = await pool.request({
    method: hop.method,
    path: hop.url.pathname + hop.url.search,
    headers: { 'user-agent': 'Tessera', 'accept-encoding': ACCEPT_ENCODING, ...hop.headers },
    body: hop.body ?? null,
    signal: limits.signal,
    // The signal bounds the whole; these would only cut earlier.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const headers = responseHeaders(answer.headers);
  const body = await readBody(answer.body, headers['content-encoding'] ?? '', limits.maxBytes);
  return { status: answer.statusCode, headers, body, url: hop.url.href };
}

/** The address that an answer redirects to, if it does. */
export function redirectTarget(answer: OutboundResponse): string | undefined {
  const location = REDIRECTS.has(answer.status) ? answer.headers['location'] : undefined;
  if (location === undefined) return undefined;
  if (!URL.canParse(location, answer.url))
    throw new OutboundError('bad_response', 'The redirect has no valid address.');
  return new URL(location, answer.url).href;
}

/** What is sent to the target of a redirect, as browsers do: POST may become GET, credentials stay with their origin. */
export function redirected(hop: Hop, status: number, target: URL): Hop {
  const becomesGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  const headers = target.origin === hop.url.origin ? hop.headers : withoutCredentials(hop.headers);
  if (!becomesGet) return { ...hop, url: target, headers };
  const { 'content-type': _dropped, ...rest } = headers;
  return { method: 'GET', url: target, headers: rest, body: undefined };
}
