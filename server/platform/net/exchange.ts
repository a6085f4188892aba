import type { Dispatcher, Pool } from 'undici';
import { responseHeaders, type Headers } from './headers.ts';
import { ACCEPT_ENCODING } from './read-body.ts';

/** One request of an exchange; a redirect makes another. */
export interface Hop {
  method: string;
  url: URL;
  headers: Headers;
  body: string | Uint8Array | undefined;
}

/** The head of an answer, with its body still to be read. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Dispatcher.ResponseData['body'];
}

/** Sends one request and waits for the head of its answer. The signal ends the body too. Throws what undici throws. */
export async function send(pool: Pool, hop: Hop, signal: AbortSignal): Promise<Answer> {
  const answer = await pool.request({
    method: hop.method,
    path: hop.url.pathname + hop.url.search,
    headers: { 'user-agent': 'Tessera', 'accept-encoding': ACCEPT_ENCODING, ...hop.headers },
    body: hop.body ?? null,
    signal,
    // The signal bounds the whole; these would only cut earlier.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return { status: answer.statusCode, headers: responseHeaders(answer.headers), body: answer.body };
}
