import { ROUTES } from '../contract/routes/index.ts';
import type { RouteContract, RouteInput, RouteOutput } from '../contract/shared/route.ts';
import { readEvents } from './read-events.ts';
import { errorOf } from './tessera-error.ts';

type Routes = typeof ROUTES;

/** The parts of the input that the endpoint has; those without required fields may be left out. */
type ClientInput<C extends RouteContract> = {
  [P in keyof RouteInput<C> as RouteInput<C>[P] extends undefined ? never : P]: RouteInput<C>[P];
};

type Streamed<C> = C extends { streams: true } ? true : false;

type Method<C extends RouteContract> = (
  input: Partial<ClientInput<C>>,
  options?: { signal?: AbortSignal },
) => Streamed<C> extends true ? AsyncIterable<RouteOutput<C>> : Promise<RouteOutput<C>>;

/** A method for each endpoint, under the endpoint's id. */
export type TesseraClient = { readonly [Id in keyof Routes]: Method<Routes[Id]> };

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:8080`. */
  baseUrl: string;
  apiKey: string;
  /** How often a request that is over a limit (429) or meets a service that is starting (503) is sent again. */
  maxRetries?: number;
  /** Replaced in tests. */
  fetch?: typeof fetch;
}

interface CallInput {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

const DEFAULT_RETRIES = 3;
const BACKOFF_MS = 250;
const MAX_WAIT_MS = 65_000;
const RETRIED = new Set([429, 503]);

function urlOf(baseUrl: string, { path }: RouteContract, { params = {}, query = {} }: CallInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''));
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = pairs
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
  return baseUrl.replace(/\/+$/, '') + filled + (search === '' ? '' : `?${search}`);
}

/** Milliseconds to wait before trying again: what the service asks for, or ever longer. */
function waitMs(response: Response, attempt: number): number {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Math.min(MAX_WAIT_MS, Number.isNaN(seconds) ? BACKOFF_MS * 2 ** attempt : seconds * 1000);
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = (): void => reject(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

async function send(options: ClientOptions, url: string, init: RequestInit): Promise<Response> {
  const { maxRetries = DEFAULT_RETRIES, fetch: sendOnce = fetch } = options;
  for (let attempt = 0; ; attempt++) {
    const response = await sendOnce(url, init);
    if (response.ok) return response;
    if (attempt === maxRetries || !RETRIED.has(response.status)) throw await errorOf(response);
    await response.body?.cancel();
    await pause(waitMs(response, attempt), init.signal ?? undefined);
  }
}

function initOf(
  { method }: RouteContract,
  input: CallInput,
  call: { apiKey: string; signal?: AbortSignal },
): RequestInit {
  const headers: Record<string, string> = { 'x-api-key': call.apiKey };
  if (input.body !== undefined) headers['content-type'] = 'application/json';
  return {
    method,
    headers,
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    ...(call.signal ? { signal: call.signal } : {}),
  };
}

async function* stream(answer: Promise<Response>): AsyncGenerator<unknown, void> {
  const { body } = await answer;
  if (body) yield* readEvents(body);
}

function methodOf(contract: RouteContract, options: ClientOptions) {
  return (input: CallInput, { signal }: { signal?: AbortSignal } = {}): unknown => {
    const init = initOf(contract, input, { apiKey: options.apiKey, ...(signal ? { signal } : {}) });
    const answer = send(options, urlOf(options.baseUrl, contract, input), init);
    return contract.streams ? stream(answer) : answer.then((response) => response.json());
  };
}

/**
 * A client of one service with one key. Methods take `params`, `query` and `body` as the endpoint has them, give what
 * it answers, and throw TesseraError for a refusal. `chatStream` gives its events one by one.
 */
export function createClient(options: ClientOptions): TesseraClient {
  const methods: Record<string, unknown> = {};
  for (const [id, contract] of Object.entries(ROUTES)) methods[id] = methodOf(contract, options);
  return asClient(methods);
}

/** Safe because there is one method for each endpoint, and the service answers by the same contracts. */
function asClient(methods: object): TesseraClient {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return methods as TesseraClient;
}
