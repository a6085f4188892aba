import type { Head, Hop } from './exchange.ts';
import { withoutBodyHeaders, withoutCredentials } from './headers.ts';
import { OutboundError } from './outbound-error.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The address that an answer redirects to, if it does. */
export function redirectTarget({ status, headers }: Head, from: string): string | undefined {
  const location = REDIRECTS.has(status) ? headers['location'] : undefined;
  if (location === undefined) return undefined;
  const target = URL.parse(location, from);
  if (!target) throw new OutboundError('bad_response', 'The redirect has no valid address.');
  return target.href;
}

/**
 * What is sent to the target of a redirect, by the fetch standard: 303 becomes GET, and so does POST on 301 and 302;
 * 307 and 308 repeat the request. To another origin goes nothing that the caller may have meant for the first alone.
 */
export function redirected(hop: Hop, status: number, target: URL): Hop {
  const headers = target.origin === hop.url.origin ? hop.headers : withoutCredentials(hop.headers);
  const becomesGet =
    (status === 303 && hop.method !== 'GET' && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  if (!becomesGet) return { ...hop, url: target, headers };
  return { method: 'GET', url: target, headers: withoutBodyHeaders(headers), body: undefined };
}
