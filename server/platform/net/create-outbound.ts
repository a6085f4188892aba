import { createAddressPolicy, type OutboundPolicy } from './address-policy.ts';
import { checkUrl } from './check-url.ts';
import { Deadline } from './deadline.ts';
import { send, type Head, type Hop } from './exchange.ts';
import { requestHeaders, requestMethod } from './headers.ts';
import { OutboundError } from './outbound-error.ts';
import { PinnedPools } from './pinned-pools.ts';
import { redirected, redirectTarget } from './redirect.ts';
import { resolveHost, type Lookup } from './resolve-host.ts';
import { systemLookup } from './system-lookup.ts';

const MAX_REDIRECTS = 5;
const CONNECT_TIMEOUT_MS = 5000;

export interface OutboundOptions {
  policy: OutboundPolicy;
  /** How names become addresses; the system's resolver by default. */
  lookup?: Lookup;
  connectTimeoutMs?: number;
}

export interface OutboundRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** Milliseconds for everything: redirects, connecting, and the whole body. */
  timeoutMs: number;
  /** Bytes of the answer, decoded; the encoded form may not be larger either. */
  maxBytes: number;
  /**
   * What becomes of a longer answer: `refuse`, the default, fails; `cut` gives how it begins, not decoded. The head is
   * then the answer: a body that breaks off or does not end in time is cut there.
   */
  excess?: 'refuse' | 'cut';
  /**
   * `refuse` gives the redirect itself as the answer; `follow` checks and calls where it leads, a few times; `same-host`
   * does so where it leads to the same host, and else fails.
   */
  redirects: 'refuse' | 'follow' | 'same-host';
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  /** Names in lower case; several values of one name are joined by commas. */
  headers: Record<string, string>;
  /** Decoded. */
  body: Buffer;
  /** Where the answer came from, after redirects. */
  url: string;
}

/** Sends requests to addresses that users supply. */
export interface Outbound {
  /** Throws OutboundError for whatever keeps an answer from coming; any status is an answer. */
  request: (request: OutboundRequest) => Promise<OutboundResponse>;
  /** What can be told of an address without calling it: throws OutboundError `refused`. */
  check: (url: string) => URL;
  /** Closes every connection; requests under way fail. */
  close: () => Promise<void>;
}

/** Opens the door for one policy. Every address is checked, the checked one dialled, redirects checked again. */
export function createOutbound({ policy, lookup = systemLookup, connectTimeoutMs }: OutboundOptions): Outbound {
  const addresses = createAddressPolicy(policy);
  const pools = new PinnedPools(connectTimeoutMs ?? CONNECT_TIMEOUT_MS);

  /** Where an answer leads, when that is followed. Throws when it leads where nobody may go. */
  const redirectOf = ({ request, hop, count }: Leg, head: Head): URL | undefined => {
    const target = request.redirects === 'refuse' ? undefined : redirectTarget(head, hop.url.href);
    if (target === undefined) return undefined;
    if (count === MAX_REDIRECTS) throw new OutboundError('bad_response', 'The address redirects too often.');
    const url = checkUrl(target, addresses);
    if (request.redirects === 'same-host') demandSameHost(url, hop.url);
    return url;
  };

  const travel = async (leg: Leg, deadline: Deadline): Promise<OutboundResponse> => {
    const { request, hop, count } = leg;
    const { maxBytes, excess = 'refuse' } = request;
    const resolved = await deadline.bound(resolveHost(hop.url.hostname, { lookup, policy: addresses }));
    const pool = pools.get(hop.url.origin, resolved);
    const reading = { maxBytes, excess, redirectOf: (head: Head) => redirectOf(leg, head) };
    const { status, headers, body, redirect } = await send(pool, hop, { ...reading, deadline });
    return redirect
      ? travel({ request, hop: redirected(hop, status, redirect), count: count + 1 }, deadline)
      : { status, headers, body, url: hop.url.href };
  };

  return {
    request: async (request) => {
      const deadline = new Deadline(request.timeoutMs, request.signal);
      try {
        return await travel({ request, hop: firstHop(request, checkUrl(request.url, addresses)), count: 0 }, deadline);
      } catch (error) {
        throw deadline.explain(error);
      } finally {
        deadline.end();
      }
    },
    check: (url) => checkUrl(url, addresses),
    close: () => pools.close(),
  };
}

/** One request on the way to an answer. */
interface Leg {
  request: OutboundRequest;
  hop: Hop;
  /** Redirects so far. */
  count: number;
}

function demandSameHost(target: URL, from: URL): void {
  if (target.host === from.host) return;
  throw new OutboundError('refused', `The address redirects to ${target.host}, another host than ${from.host}.`);
}

function firstHop({ method, headers, body }: OutboundRequest, url: URL): Hop {
  return { method: requestMethod(method), url, headers: requestHeaders(headers), body };
}
