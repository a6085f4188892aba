import type { Readable } from 'node:stream';
import { Agent } from 'undici';

const KEEP_ALIVE_MS = 60_000;

export interface TrustedRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
  /** Ends the body too. */
  signal: AbortSignal;
}

export interface TrustedResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Read no faster than it is taken. */
  body: Readable;
}

/** An HTTP client for addresses that the operator configured: nothing is checked, nothing decoded, nothing followed. */
export interface TrustedClient {
  request: (request: TrustedRequest) => Promise<TrustedResponse>;
  close: () => Promise<void>;
}

interface Target {
  origin: string;
  path: string;
}

/** The client itself. Connections stay open, as many as there are requests at a time. */
export function createTrustedClient(): TrustedClient {
  const agent = new Agent({ keepAliveTimeout: KEEP_ALIVE_MS, pipelining: 1 });
  // The operator's addresses are few and the same on every call.
  const targets = new Map<string, Target>();
  const targetOf = (url: string): Target => {
    const known = targets.get(url);
    if (known) return known;
    const { origin, pathname, search } = new URL(url);
    const target = { origin, path: pathname + search };
    targets.set(url, target);
    return target;
  };
  return {
    request: async ({ method, url, headers, body, headersTimeoutMs, bodyTimeoutMs, signal }) => {
      const answer = await agent.request({
        ...targetOf(url),
        method,
        headers,
        body: body ?? null,
        headersTimeout: headersTimeoutMs,
        bodyTimeout: bodyTimeoutMs,
        signal,
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    },
    close: () => agent.destroy(),
  };
}
