import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { AnswerTurn, ReplayTurn, VendorRequestRecord, VendorTurn } from './scripted-vendor-turn.ts';
import { errorBody, errorEvent, streamedAnswer, wholeAnswer } from './scripted-vendor-wire.ts';

/** Turns one after the other, or a function of the request; a promise holds the answer back until it resolves. */
export type VendorScript =
  | VendorTurn[]
  | ((request: VendorRequestRecord, index: number) => VendorTurn | Promise<VendorTurn>);

export interface ScriptedVendor {
  /** For AI_<VENDOR>_BASE_URL; speaks Anthropic at /messages and OpenAI at /chat/completions. */
  baseUrl: string;
  /** Everything asked so far, oldest first. */
  requests: VendorRequestRecord[];
  /** Moments (performance.now()) at which clients closed the connection before the answer was over. */
  abortedAtMs: number[];
  /** Requests that are being answered, now and at most. */
  inFlight: () => number;
  peakInFlight: () => number;
  /** TCP connections that were made to it so far. */
  connectionCount: () => number;
  /** Adds turns to a script that is a list. */
  push: (...turns: VendorTurn[]) => void;
  /** Resolves when so many requests have come in. */
  waitForRequests: (count: number) => Promise<void>;
  /** Resolves when so many clients have left early. */
  waitForAborts: (count: number) => Promise<void>;
  close: () => Promise<void>;
}

export interface ScriptedVendorOptions {
  script?: VendorScript;
  /** A free port by default. */
  port?: number;
  /** Whether `requests` is filled; a long benchmark does without. */
  isRecording?: boolean;
}

const DEFAULT_TURN: AnswerTurn = { text: ['Hello', ' from', ' the', ' scripted', ' vendor', '.'] };

/**
 * Starts a model vendor on loopback that does what a script says, for tests and benchmarks. Without a script it always
 * says hello; a list that is used up answers 500.
 */
export async function startScriptedVendor(options: ScriptedVendorOptions = {}): Promise<ScriptedVendor> {
  const vendor = new Vendor(options);
  const server = createServer((request, response) => {
    vendor.serve(request, response).catch((error: unknown) => response.destroy(asError(error)));
  });
  let connectionCount = 0;
  server.on('connection', () => connectionCount++);
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${portOf(server.address())}/v1`,
    requests: vendor.requests,
    abortedAtMs: vendor.abortedAtMs,
    inFlight: () => vendor.inFlight,
    peakInFlight: () => vendor.peakInFlight,
    connectionCount: () => connectionCount,
    push: (...turns) => vendor.push(turns),
    waitForRequests: (count) => vendor.waitUntil(() => vendor.requests.length >= count),
    waitForAborts: (count) => vendor.waitUntil(() => vendor.abortedAtMs.length >= count),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

class Vendor {
  readonly requests: VendorRequestRecord[] = [];
  readonly abortedAtMs: number[] = [];
  inFlight = 0;
  peakInFlight = 0;
  readonly #script: VendorScript;
  readonly #isRecording: boolean;
  #requestCount = 0;
  readonly #rendered = new WeakMap<VendorTurn, Map<string, string>>();
  #watchers: { isMet: () => boolean; resolve: () => void }[] = [];

  constructor({ script = () => DEFAULT_TURN, isRecording = true }: ScriptedVendorOptions) {
    this.#script = script;
    this.#isRecording = isRecording;
  }

  push(turns: VendorTurn[]): void {
    if (typeof this.#script === 'function') throw new Error('a script that is a function takes no turns');
    this.#script.push(...turns);
  }

  async waitUntil(isMet: () => boolean): Promise<void> {
    if (isMet()) return;
    await new Promise<void>((resolve) => this.#watchers.push({ isMet, resolve }));
  }

  #changed(): void {
    for (const watcher of this.#watchers.filter(({ isMet }) => isMet())) watcher.resolve();
    this.#watchers = this.#watchers.filter(({ isMet }) => !isMet());
  }

  async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.inFlight++;
    this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
    response.on('close', () => {
      this.inFlight--;
      if (!response.writableFinished && !wasCut.has(response)) this.abortedAtMs.push(performance.now());
      this.#changed();
    });
    const request = await readRequest(incoming);
    const index = this.#requestCount++;
    if (this.#isRecording) this.requests.push(request);
    this.#changed();
    await this.#perform(await this.#turn(request, index), request, response);
  }

  #turn(request: VendorRequestRecord, index: number): VendorTurn | Promise<VendorTurn> {
    if (typeof this.#script === 'function') return this.#script(request, index);
    return this.#script[index] ?? { status: 500, message: `The script has no turn ${index + 1}.` };
  }

  async #perform(turn: VendorTurn, request: VendorRequestRecord, response: ServerResponse): Promise<void> {
    if ('hang' in turn) return;
    if ('replay' in turn) {
      await replay(turn, response);
    } else if ('status' in turn) {
      const body = turn.body ?? errorBody(request.protocol, turn.status, turn.message ?? 'Refused by the script.');
      response.writeHead(turn.status, { 'content-type': 'application/json', ...turn.headers }).end(body);
    } else if (request.body['stream'] !== true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(this.#render(turn, request, () => JSON.stringify(wholeAnswer(turn, request))));
    } else if (turn.paceMs === undefined && !turn.breakAfter) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(this.#render(turn, request, () => joined(turn, request)));
    } else {
      await streamPaced(turn, request, response);
    }
  }

  /** Benchmarks answer with the same turn thousands of times; it is written out once, unless it depends on the request. */
  #render(turn: AnswerTurn, request: VendorRequestRecord, write: () => string): string {
    if (!turn.usage) return write();
    const key = [request.protocol, request.body['stream'] === true, request.body['model']].join(' ');
    const rendered = this.#rendered.get(turn) ?? new Map<string, string>();
    this.#rendered.set(turn, rendered);
    const text = rendered.get(key) ?? write();
    rendered.set(key, text);
    return text;
  }
}

/** Answers whose connection the script has cut, as opposed to the client. */
const wasCut = new WeakSet<ServerResponse>();

function joined(turn: AnswerTurn, request: VendorRequestRecord): string {
  return streamedAnswer(turn, request)
    .map(({ sse }) => sse)
    .join('');
}

async function streamPaced(turn: AnswerTurn, request: VendorRequestRecord, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const limit = turn.breakAfter?.fragments ?? Infinity;
  let fragments = 0;
  for (const { sse, isFragment } of streamedAnswer(turn, request)) {
    if (fragments === limit && (isFragment || fragments > 0)) break;
    if (isFragment && turn.paceMs !== undefined) await (turn.paceMs > 0 ? sleep(turn.paceMs) : setImmediate());
    if (response.destroyed) return;
    if (!response.write(sse)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    if (isFragment) fragments++;
  }
  if (fragments < limit) response.end();
  else finishBroken(turn, request, response);
}

function finishBroken({ breakAfter }: AnswerTurn, request: VendorRequestRecord, response: ServerResponse): void {
  if (breakAfter?.how === 'hang') return;
  if (breakAfter?.how === 'error') {
    response.end(errorEvent(request.protocol, breakAfter.message ?? 'Overloaded'));
    return;
  }
  wasCut.add(response);
  // What is written so far goes out before the connection is cut.
  response.write('', () => response.destroy());
}

async function replay({ replay: bytes, cuts = [], contentType }: ReplayTurn, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': contentType ?? 'text/event-stream' });
  const offsets = cuts === 'every-byte' ? Array.from(bytes.keys()) : cuts;
  let start = 0;
  for (const offset of [...offsets, bytes.length]) {
    if (offset <= start) continue;
    response.write(bytes.subarray(start, offset));
    start = offset;
    await setImmediate();
  }
  response.end();
}

async function readRequest(incoming: IncomingMessage): Promise<VendorRequestRecord> {
  let text = '';
  incoming.setEncoding('utf8');
  for await (const part of incoming) text += String(part);
  const path = incoming.url ?? '/';
  const protocol = path.endsWith('/messages') ? 'anthropic' : 'openai';
  return { protocol, path, headers: incoming.headers, body: parseObject(text), length: text.length };
}

function parseObject(text: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null) throw new Error('the request is not a JSON object');
  return { ...parsed };
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address !== 'object' || address === null) throw new Error('the vendor has no TCP address');
  return address.port;
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
