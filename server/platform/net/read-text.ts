import type { Readable } from 'node:stream';
import { readBody } from './read-body.ts';

/** Reads a whole body as UTF-8 text. Throws OutboundError `too_large` above `maxBytes`, or what the stream throws. */
export async function readText(body: Readable, maxBytes: number): Promise<string> {
  return (await readBody(body, '', maxBytes)).toString('utf8');
}
