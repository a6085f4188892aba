import { createAddressPolicy, type OutboundPolicy } from './address-policy.ts';
import { checkUrl } from './check-url.ts';
import { redirected, redirectTarget, send, type Hop, type OutboundRequest, type OutboundResponse } from './exchange.ts';
import { requestHeaders } from './headers.ts';
import { OutboundError } from './outbound-error.ts';
import { PinnedPools } from './pinned-pools.ts';
import { resolveHost, systemLookup, type Lookup } from './resolve-host.ts';
import { Deadline } from './deadline.ts';

const MAX_REDIRECTS = 5;
const CONNECT_TIMEOUT_MS = 5000;

export interface OutboundOptions {
  policy: OutboundPolicy;
  /** How names become addresses; the system's resolver by default. */
  lookup?: Lookup;
  connectTimeoutMs?: number;
}

/** Sends requests to addresses that users supply. */
export interface Outbound {
  /** Throws OutboundError for whatever keeps an answer from coming; any status is an answer. */
  request: (request: OutboundRequest) => Promise<OutboundResponse>;
  /** What can be told of an address without calling it: throws OutboundError `refused`. */
  check: (url: string) => URL;
  close: () => Promise<void>;
}

/** Opens the door for one policy. Every address is checked, the checked one dialled, redirects checked again. */
export function createOutbound({ policy, lookup = systemLookup, connectTimeoutMs }: OutboundOptions): Outbound {
  const addresses = createAddressPolicy(policy);
  const pools = new PinnedPools(connectTimeoutMs ?? CONNECT_TIMEOUT_MS);

  const sendHop = async (hop: Hop, request: OutboundRequest, deadline: Deadline): Promise<OutboundResponse> => {
    const resolved = await deadline.race(resolveHost(hop.url.hostname, { lookup, policy: addresses }));
    const pool = pools.get(hop.url.origin, resolved);
    return send(pool, hop, { signal: deadline.signal, maxBytes: request.maxBytes });
  };

  const follow = async (request: OutboundRequest, deadline: Deadline): Promise<OutboundResponse> => {
    const { method, body } = request;
    let hop: Hop = { method, url: checkUrl(request.url, addresses), headers: requestHeaders(request.headers), body };
    for (let redirects = 0; ; redirects++) {
      const answer = await sendHop(hop, request, deadline);
      const target = request.redirects === 'follow' ? redirectTarget(answer) : undefined;
      if (target === undefined) return answer;
      if (redirects === MAX_REDIRECTS) throw new OutboundError('bad_response', 'The address redirects too often.');
      hop = redirected(hop, answer.status, checkUrl(target, addresses));
    }
  };

  return {
    request: async (request) => {
      const deadline = new Deadline(request.timeoutMs, request.signal);
      try {
        return await follow(request, deadline);
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
