import type { AppError } from '../../platform/errors/index.ts';
import type { TrustedClient } from '../../platform/net/index.ts';
import { BodyReader } from './body-reader.ts';
import { connectionFailure, isUnsent, refusal, type FailedCall } from './vendor-failure.ts';

type VendorResponse = Awaited<ReturnType<TrustedClient['request']>>;

/** What is sent, and where. */
export interface VendorPost extends FailedCall {
  url: string;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

/** The means of sending; waiting and chance are replaced in tests. */
export interface Transport {
  http: Pick<TrustedClient, 'request'>;
  /** Waits; rejects when the signal is aborted. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1. */
  random: () => number;
}

export type SendOutcome =
  | { isAnswered: true; body: BodyReader; isEventStream: boolean }
  /** `isUnused`: the vendor did no work that it could charge for. */
  | { isAnswered: false; error: AppError; isUnused: boolean; retryAfterMs?: number };

const MAX_RETRIES = 2;
const BACKOFF_MS = 500;
/** A vendor that asks for more patience than this is not asked again: the caller decides. */
const MAX_RETRY_AFTER_MS = 5_000;
const RETRIED_STATUSES = new Set([429, 503, 529]);
const MAX_ERROR_BYTES = 64 * 1024;
/** Bytes of a whole answer; a streamed one carries many times its text in framing. */
const MAX_ANSWER_BYTES = 20 * 1024 * 1024;
const MAX_STREAM_BYTES = 100 * 1024 * 1024;

/**
 * Sends a request until the vendor begins to answer with success. Tries again, twice at most and with growing pauses,
 * where nothing was done yet: the connection was refused, or the vendor was overloaded and asks for no long wait.
 */
export async function sendRequest(transport: Transport, post: VendorPost): Promise<SendOutcome> {
  for (let attempt = 0; ; attempt++) {
    const outcome = await sendOnce(transport.http, post);
    if (outcome.isAnswered || attempt === MAX_RETRIES || outcome.retryAfterMs === undefined) return outcome;
    const backoffMs = BACKOFF_MS * 2 ** attempt * (0.75 + transport.random() / 2);
    await transport.sleep(Math.max(outcome.retryAfterMs, backoffMs), post.signal);
  }
}

async function sendOnce(http: Transport['http'], post: VendorPost): Promise<SendOutcome> {
  let response: VendorResponse;
  try {
    response = await http.request({
      method: 'POST',
      url: post.url,
      headers: post.headers,
      body: post.body,
      headersTimeoutMs: post.timeoutMs,
      bodyTimeoutMs: post.idleTimeoutMs,
      signal: post.signal,
    });
  } catch (error) {
    post.signal.throwIfAborted();
    const isUnused = isUnsent(error);
    return { isAnswered: false, error: connectionFailure(error, post), isUnused, ...(isUnused && { retryAfterMs: 0 }) };
  }
  if (response.status >= 200 && response.status < 300) return answered(response);
  return readRefusal(response, post);
}

function answered(response: VendorResponse): SendOutcome {
  const isEventStream = !headerText(response, 'content-type').includes('json');
  return {
    isAnswered: true,
    body: new BodyReader(response.body, isEventStream ? MAX_STREAM_BYTES : MAX_ANSWER_BYTES),
    isEventStream,
  };
}

async function readRefusal(response: VendorResponse, post: VendorPost): Promise<SendOutcome> {
  const reader = new BodyReader(response.body, MAX_ERROR_BYTES);
  // The status says enough when the words do not arrive.
  const body = await reader.readAll().catch(() => undefined);
  post.signal.throwIfAborted();
  const error = refusal(response.status, body?.toString('utf8') ?? '', post);
  const retryAfterMs = retryAfter(headerText(response, 'retry-after'));
  const isRetried = RETRIED_STATUSES.has(response.status) && retryAfterMs <= MAX_RETRY_AFTER_MS;
  return { isAnswered: false, error, isUnused: true, ...(isRetried && { retryAfterMs }) };
}

function headerText(response: VendorResponse, name: string): string {
  const value = response.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

/** Milliseconds that a Retry-After header asks for: seconds, or a date; 0 when it is absent or unreadable. */
function retryAfter(header: string): number {
  if (header === '') return 0;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
