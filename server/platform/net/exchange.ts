import type { Dispatcher, Pool } from 'undici';
import { bodyStart, encodedBody, wholeBody, type BodySink } from './body-sink.ts';
import type { Deadline } from './deadline.ts';
import { responseHeaders, type Headers } from './headers.ts';
import { ACCEPT_ENCODING, isEncoded } from './read-body.ts';

/** A redirect's body is read away up to here, to keep the connection; a longer one costs it. */
const MAX_REDIRECT_BODY_BYTES = 16 * 1024;

/** One request of an exchange; a redirect makes another. */
export interface Hop {
  method: string;
  url: URL;
  headers: Headers;
  body: string | Uint8Array | undefined;
}

/** How an answer begins. */
export interface Head {
  status: number;
  headers: Headers;
}

export interface Answer extends Head {
  /** Decoded; of a redirect that is followed, nobody's business. */
  body: Buffer;
  /** Where to ask instead. */
  redirect: URL | undefined;
}

/** How an answer is read. */
interface Reading {
  maxBytes: number;
  excess: 'refuse' | 'cut';
  /** Where an answer leads, when that is to be followed. Throws what ends the exchange. */
  redirectOf: (head: Head) => URL | undefined;
}

/**
 * Takes one answer from undici as it comes: what its own `request` makes of one, a stream with its signals, costs more
 * than the exchange itself.
 */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #reading: Reading;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: BodySink | undefined;
  #isOver = false;

  constructor(reading: Reading, ending: { resolve: (answer: Answer) => void; reject: (error: unknown) => void }) {
    this.#reading = reading;
    this.#resolve = ending.resolve;
    this.#reject = ending.reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.#hangUp();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    raw: Record<string, string | string[] | undefined>,
  ): void {
    // What comes before the answer, such as 103 Early Hints.
    if (status < 200) return;
    const head = { status, headers: responseHeaders(raw) };
    this.#body = this.#sinkOf(head, controller);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.add(chunk);
  }

  onResponseEnd(): void {
    this.#controller = undefined;
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#controller = undefined;
    this.giveUp(error);
  }

  /** Ends the exchange with what there is, when that is an answer, and else with the reason. */
  readonly giveUp = (reason: Error): void => {
    if (this.#body) this.#body.broken(reason);
    else this.#fail(reason);
  };

  #sinkOf(head: Head, controller: Dispatcher.DispatchController): BodySink {
    const { maxBytes, excess, redirectOf } = this.#reading;
    const redirect = redirectOf(head);
    const done = (body: Buffer): void => {
      this.#resolve({ ...head, redirect, body });
      this.#over();
    };
    const ending = { done, fail: this.#fail };
    if (redirect) return bodyStart(MAX_REDIRECT_BODY_BYTES, ending);
    if (excess === 'cut') return bodyStart(maxBytes, ending);
    const contentEncoding = head.headers['content-encoding'] ?? '';
    return isEncoded(contentEncoding)
      ? encodedBody({ contentEncoding, maxBytes, flow: controller }, ending)
      : wholeBody(maxBytes, ending);
  }

  readonly #fail = (error: unknown): void => {
    this.#reject(error);
    this.#over();
  };

  #over(): void {
    this.#isOver = true;
    this.#hangUp();
  }

  /** Closes the connection of an answer that has not come to its end. */
  #hangUp(): void {
    this.#controller?.abort(new Error('nobody reads on'));
  }
}

/** Sends one request and reads its answer. Throws what undici throws, what reading throws, and why it was given up. */
export function send(
  pool: Pool,
  hop: Hop,
  { deadline, ...reading }: Reading & { deadline: Deadline },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const reader = new AnswerReader(reading, { resolve, reject });
    deadline.watch(reader.giveUp);
    pool.dispatch(
      {
        method: hop.method,
        path: hop.url.pathname + hop.url.search,
        headers: { 'user-agent': 'Tessera', 'accept-encoding': ACCEPT_ENCODING, ...hop.headers },
        body: hop.body ?? null,
        // The deadline bounds the whole; these would only cut earlier.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      reader,
    );
  });
}
