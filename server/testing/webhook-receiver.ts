import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a receiver answers one request. */
type WebhookAnswer =
  /** A whole answer, `afterMs` after the request has arrived. */
  | { status: number; body?: string; headers?: Record<string, string>; afterMs?: number }
  /** `hang` never answers; `drip` answers 200 and then a byte of its body a second, without end. */
  | 'hang'
  | 'drip'
  | { redirectTo: string; status?: 301 | 302 | 303 | 307 | 308 }
  /** 200 with a body of so many bytes. */
  | { hugeBytes: number };

/** One answer for all, or a decision for each request; `index` counts from 0. */
export type WebhookScript = WebhookAnswer | ((request: ReceivedWebhook, index: number) => WebhookAnswer);

export interface ReceivedWebhook {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The bytes as they came. */
  body: Buffer;
  /** When the head of the request had come, in ms since 1970, with fractions. */
  arrivedAtMs: number;
}

/** Somebody who subscribed: an HTTP server on loopback that keeps what it is sent. */
export interface WebhookReceiver {
  /** Without a path; any path below it is received. */
  url: string;
  /** Whole requests, in the order in which they came to their end. */
  readonly received: readonly ReceivedWebhook[];
  /** May be replaced at any time; requests that have come already keep their answer. */
  answer: WebhookScript;
  /** Cuts the connections that are open, too. */
  stop: () => Promise<void>;
}

const DRIP_MS = 1000;
const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** Starts a receiver that answers 200 unless its script says something else. */
export async function startWebhookReceiver(
  options: { answer?: WebhookScript; port?: number } = {},
): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const server = createServer((incoming, response) => {
    const arrivedAtMs = performance.timeOrigin + performance.now();
    // The sender hung up.
    take(incoming, response, arrivedAtMs).catch(() => response.destroy());
  });
  const receiver: WebhookReceiver = {
    url: '',
    received,
    answer: options.answer ?? { status: 200 },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };

  async function take(incoming: IncomingMessage, response: ServerResponse, arrivedAtMs: number): Promise<void> {
    const body = await bytesOf(incoming);
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body, arrivedAtMs };
    const index = received.push(request) - 1;
    const { answer } = receiver;
    await reply(response, typeof answer === 'function' ? answer(request, index) : answer);
  }

  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  receiver.url = `http://127.0.0.1:${portOf(server.address())}`;
  return receiver;
}

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  incoming.on('data', (part: Buffer) => parts.push(part));
  await once(incoming, 'end');
  return Buffer.concat(parts);
}

async function reply(response: ServerResponse, answer: WebhookAnswer): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'drip') {
    await drip(response);
  } else if ('redirectTo' in answer) {
    response.writeHead(answer.status ?? 302, { location: answer.redirectTo }).end();
  } else if ('hugeBytes' in answer) {
    await pour(response, answer.hugeBytes);
  } else {
    if (answer.afterMs !== undefined) await sleep(answer.afterMs);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }
}

async function drip(response: ServerResponse): Promise<void> {
  response.writeHead(200);
  while (!response.destroyed) {
    response.write('.');
    await sleep(DRIP_MS, undefined, { ref: false });
  }
}

/** Rejects when the sender hangs up. */
async function pour(response: ServerResponse, bytes: number): Promise<void> {
  response.writeHead(200, { 'content-length': bytes });
  await pipeline(chunksOf(bytes), response);
}

function* chunksOf(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, left);
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address !== 'object' || address === null) throw new Error('the receiver has no TCP address');
  return address.port;
}
