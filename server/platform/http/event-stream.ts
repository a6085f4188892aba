import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** A comment line this often keeps proxies from closing a stream while the model or a tool is thinking. */
const KEEP_ALIVE_MS = 15_000;

/** Waits until the client has taken what was written, or has left. */
async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const settled = new AbortController();
  await Promise.race(['drain', 'close'].map((event) => once(response, event, { signal: settled.signal })));
  settled.abort();
}

function writeFrame(response: ServerResponse, event: unknown): boolean {
  return response.write(`data: ${JSON.stringify(event)}\n\n`);
}

/**
 * Sends events as they come, each as one `data:` line and a blank line. Reads no further event while the client
 * is slow to take the last. Ends the iteration when the client leaves.
 */
export async function sendEvents(reply: FastifyReply, events: AsyncIterable<unknown>): Promise<void> {
  const headers = reply.getHeaders();
  reply.hijack();
  const response = reply.raw;
  response.writeHead(200, {
    ...Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    connection: 'keep-alive',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  const keepAlive = setInterval(() => response.writableNeedDrain || response.write(': keep-alive\n\n'), KEEP_ALIVE_MS);
  try {
    for await (const event of events) {
      if (response.destroyed) break;
      if (!writeFrame(response, event)) await drained(response);
    }
  } finally {
    clearInterval(keepAlive);
    response.end();
  }
}
