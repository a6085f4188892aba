import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import { abortable } from './abortable.ts';

const KEEP_ALIVE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

interface TrustedClientOptions {
  connectTimeoutMs?: number;
}

export interface TrustedRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  headersTimeoutMs: number;
  /** Milliseconds of silence in the body. */
  bodyTimeoutMs: number;
  /** Ends the body too. */
  signal: AbortSignal;
}

interface TrustedResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Read no faster than it is taken. Must be read to its end or destroyed. */
  body: Readable;
}

/** An HTTP client for addresses that the operator configured: nothing is checked, nothing decoded, nothing followed. */
export interface TrustedClient {
  /** Throws what the network throws; `explainFailure` tells it apart. */
  request: (request: TrustedRequest) => Promise<TrustedResponse>;
  /** Closes every connection; requests under way fail. */
  close: () => Promise<void>;
}

interface Target {
  origin: string;
  path: string;
}

/** The client itself. Connections stay open, as many as there are requests at a time. */
export function createTrustedClient({ connectTimeoutMs }: TrustedClientOptions = {}): TrustedClient {
  // Ends connections that are still being made, of which undici lets go when it is destroyed.
  const closing = new AbortController();
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    pipelining: 1,
    // One request a connection: streams that share one would wait for each other's slow readers.
    allowH2: false,
    connect: { timeout: connectTimeoutMs ?? CONNECT_TIMEOUT_MS, signal: closing.signal },
  });
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
      const sent = agent.request({
        ...targetOf(url),
        method,
        headers,
        body: body ?? null,
        headersTimeout: headersTimeoutMs,
        bodyTimeout: bodyTimeoutMs,
        signal,
      });
      // Undici notices a signal only once it is connected.
      const answer = await abortable(sent, signal);
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    },
    close: async () => {
      const destroyed = agent.destroy();
      closing.abort();
      await destroyed;
    },
  };
}
