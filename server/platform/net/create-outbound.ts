import { createAddressPolicy, type OutboundPolicy } from './address-policy.ts';
import { checkUrl } from './check-url.ts';
import { abortable, Deadline } from './deadline.ts';
import { send, type Answer, type Hop } from './exchange.ts';
import { requestHeaders, requestMethod } from './headers.ts';
import { OutboundError } from './outbound-error.ts';
import { PinnedPools } from './pinned-pools.ts';
import { readBody } from './read-body.ts';
import { readStart } from './read-start.ts';
import { redirected, redirectTarget } from './redirect.ts';
import { resolveHost, type Lookup } from './resolve-host.ts';
import { systemLookup } from './system-lookup.ts';

const MAX_REDIRECTS = 5;
const CONNECT_TIMEOUT_MS = 5000;
/** A redirect's body is read away up to here, to keep the connection; a longer one costs it. */
const MAX_REDIRECT_BODY_BYTES = 16 * 1024;

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

  const sendHop = async (hop: Hop, { signal }: Deadline): Promise<Answer> => {
    const resolved = await abortable(resolveHost(hop.url.hostname, { lookup, policy: addresses }), signal);
    // Undici notices a signal only once it is connected.
    return abortable(send(pools.get(hop.url.origin, resolved), hop, signal), signal);
  };

  const exchange = async (request: OutboundRequest, deadline: Deadline): Promise<OutboundResponse> => {
    let hop = firstHop(request, checkUrl(request.url, addresses));
    for (let redirects = 0; ; redirects++) {
      const answer = await sendHop(hop, deadline);
      const { status, headers } = answer;
      const target = request.redirects === 'refuse' ? undefined : redirectTarget(answer, hop.url.href);
      if (target === undefined) {
        const body =
          request.excess === 'cut'
            ? await readStart(answer.body, request.maxBytes)
            : await readBody(answer.body, headers['content-encoding'] ?? '', request.maxBytes);
        return { status, headers, body, url: hop.url.href };
      }
      if (redirects === MAX_REDIRECTS) throw new OutboundError('bad_response', 'The address redirects too often.');
      const url = checkUrl(target, addresses);
      if (request.redirects === 'same-host') demandSameHost(url, hop.url);
      hop = redirected(hop, status, url);
      await answer.body.dump({ limit: MAX_REDIRECT_BODY_BYTES });
    }
  };

  return {
    request: async (request) => {
      const deadline = new Deadline(request.timeoutMs, request.signal);
      try {
        return await exchange(request, deadline);
      } catch (error) {
        throw deadline.fail(error);
      } finally {
        deadline.end();
      }
    },
    check: (url) => checkUrl(url, addresses),
    close: () => pools.close(),
  };
}

function demandSameHost(target: URL, from: URL): void {
  if (target.host === from.host) return;
  throw new OutboundError('refused', `The address redirects to ${target.host}, another host than ${from.host}.`);
}

function firstHop({ method, headers, body }: OutboundRequest, url: URL): Hop {
  return { method: requestMethod(method), url, headers: requestHeaders(headers), body };
}
