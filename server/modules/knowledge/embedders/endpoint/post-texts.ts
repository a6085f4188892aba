import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../../../platform/errors/index.ts';
import { explainFailure, readText, type TrustedClient } from '../../../../platform/net/index.ts';
import { redactMessage } from '../../../models/index.ts';
import type { EndpointSettings } from '../../knowledge.settings.ts';

export interface Server extends EndpointSettings {
  client: Pick<TrustedClient, 'request'>;
  /** Waits; rejects when the signal is aborted. Replaced in tests. */
  sleep: typeof pause;
}

/** How long a request may take, and how it is tried again. */
export interface Patience {
  timeoutMs: number;
  retries: number;
  /** A longer wait than this is for the caller to make. */
  maxWaitMs: number;
}

/** `isRefused`: the server can be reached and will not do this, as with too many or too long texts. */
export type PostOutcome = { isAnswered: true; body: string } | { isAnswered: false; isRefused: boolean; error: Error };

type Attempt = PostOutcome & { retryAfterMs?: number };

const BACKOFF_MS = 500;
const MAX_ERROR_BYTES = 64 * 1024;
/** 8,192 numbers of 32 characters. */
const MAX_VECTOR_BYTES = 256 * 1024;
/** Statuses by which servers say that a request is too large for them, or not as they want it. */
const REFUSED_STATUSES = new Set([400, 413, 422]);

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** Asks for the vectors of texts, again while the server is overloaded or away. Throws what the signal was aborted with. */
export async function postTexts(
  server: Server,
  texts: readonly string[],
  { signal, ...patience }: Patience & { signal: AbortSignal },
): Promise<PostOutcome> {
  for (let attempt = 0; ; attempt++) {
    const outcome = await postOnce(server, texts, { signal, timeoutMs: patience.timeoutMs });
    if (outcome.isAnswered || outcome.retryAfterMs === undefined || attempt === patience.retries) return outcome;
    if (outcome.retryAfterMs > patience.maxWaitMs) return outcome;
    const backoffMs = BACKOFF_MS * 2 ** attempt * (0.75 + Math.random() / 2);
    await server.sleep(Math.max(outcome.retryAfterMs, Math.min(backoffMs, patience.maxWaitMs)), signal);
  }
}

async function postOnce(
  server: Server,
  texts: readonly string[],
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<Attempt> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await server.client.request({
      method: 'POST',
      url: `${server.baseUrl}/embeddings`,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(server.apiKey && { authorization: `Bearer ${server.apiKey.reveal()}` }),
      },
      body: JSON.stringify({ model: server.model, input: texts }),
      headersTimeoutMs: timeoutMs,
      bodyTimeoutMs: timeoutMs,
      signal: AbortSignal.any([signal, deadline]),
    });
    if (response.status === 200) {
      return { isAnswered: true, body: await readText(response.body, texts.length * MAX_VECTOR_BYTES) };
    }
    const words = await readText(response.body, MAX_ERROR_BYTES).catch(() => '');
    signal.throwIfAborted();
    return refusal(server, response.status, { words, retryAfter: headerText(response.headers['retry-after']) });
  } catch (error) {
    signal.throwIfAborted();
    const message = deadline.aborted
      ? `There was no complete answer within ${timeoutMs / 1000} seconds.`
      : errorMessage(explainFailure(error));
    return failure(server, `The embedding server cannot be used: ${message}`, { retryAfterMs: 0 });
  }
}

function refusal(server: Server, status: number, answer: { words: string; retryAfter: string }): Attempt {
  const said = redactMessage(wordsOf(answer.words), server.apiKey?.reveal() ?? '');
  const sentence = `${statusSentence(status, server.model)} (status ${status})${said === '' ? '.' : `: ${said}`}`;
  if (REFUSED_STATUSES.has(status)) return { ...failure(server, sentence, {}), isRefused: true };
  const isTriedAgain = status === 429 || status >= 500;
  return failure(server, sentence, isTriedAgain ? { retryAfterMs: waitOf(answer.retryAfter) } : {});
}

function failure(server: Server, sentence: string, retry: { retryAfterMs?: number }): Attempt & { isAnswered: false } {
  const key = server.apiKey?.reveal();
  const message = key ? sentence.replaceAll(key, '***') : sentence;
  return { isAnswered: false, isRefused: false, error: new Error(message), ...retry };
}

function statusSentence(status: number, model: string): string {
  if (status === 401 || status === 403) return 'The embedding server refused EMBEDDINGS_API_KEY';
  if (status === 404) return `The embedding server does not know the model "${model}" or the path /embeddings`;
  if (status === 429 || status === 503 || status === 529) return 'The embedding server is overloaded';
  if (status >= 500) return 'The embedding server failed';
  return 'The embedding server refused the request';
}

/** The sentence inside an error body, of which every server has its own form. */
function wordsOf(body: string): string {
  return /"(?:message|error|detail|error_msg)"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? '';
}

function headerText(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

/** Milliseconds that a Retry-After header asks for: seconds, or a date; 0 when it is absent or unreadable. */
function waitOf(header: string): number {
  if (header === '') return 0;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
