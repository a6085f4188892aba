import { Agent, type Dispatcher } from 'undici';
import { AnswerBody } from './answer-body.ts';

const KEEP_ALIVE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

type RawHeaders = Record<string, string | string[] | undefined>;

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
  headers: RawHeaders;
  /** Must be read to its end or destroyed. */
  body: AnswerBody;
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

/** Takes one answer from undici as it comes. */
class AnswerReceiver implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #resolve: (response: TrustedResponse) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: AnswerBody | undefined;

  constructor(
    signal: AbortSignal,
    settle: { resolve: (response: TrustedResponse) => void; reject: (error: unknown) => void },
  ) {
    this.#signal = signal;
    this.#resolve = settle.resolve;
    this.#reject = settle.reject;
    signal.addEventListener('abort', this.#giveUp);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#giveUp();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: RawHeaders): void {
    // What comes before the answer, such as 103 Early Hints.
    if (status < 200) return;
    this.#body = new AnswerBody(controller);
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#over();
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  /** Undici itself would notice a signal only once it is connected. */
  readonly #giveUp = (): void => {
    const reason = reasonOf(this.#signal);
    this.#controller?.abort(reason);
    this.#fail(reason);
  };

  #fail(error: Error): void {
    this.#over();
    this.#reject(error);
    this.#body?.end(error);
  }

  #over(): void {
    this.#signal.removeEventListener('abort', this.#giveUp);
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new DOMException('The request was given up.', 'AbortError');
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
    request: ({ method, url, headers, body, headersTimeoutMs, bodyTimeoutMs, signal }) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        agent.dispatch(
          {
            ...targetOf(url),
            method,
            headers,
            body: body ?? null,
            headersTimeout: headersTimeoutMs,
            bodyTimeout: bodyTimeoutMs,
          },
          new AnswerReceiver(signal, { resolve, reject }),
        );
      }),
    close: async () => {
      const destroyed = agent.destroy();
      closing.abort();
      await destroyed;
    },
  };
}
