import type { Readable } from 'node:stream';
import { ByteCollector } from './byte-collector.ts';
import { decode } from './decode.ts';
import { OutboundError, tooLarge } from './outbound-error.ts';

/** Encodings that may lie over each other; more serve only to hide a bomb. */
const MAX_ENCODINGS = 2;

/** What is asked for; all of it can be decoded. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

/** The names of a Content-Encoding, in the order in which they are taken off. */
function encodingsOf(contentEncoding: string): string[] {
  const names = contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .toReversed();
  if (names.length > MAX_ENCODINGS) throw new OutboundError('bad_response', 'The answer is encoded too many times.');
  return names;
}

/** Whether a Content-Encoding names anything that has to be taken off. */
export function isEncoded(contentEncoding: string): boolean {
  return encodingsOf(contentEncoding).length > 0;
}

/** The chunks of a body. Readable leaves the type open; an answer's body is never in object mode. */
async function* chunksOf(body: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of body) if (Buffer.isBuffer(chunk)) yield chunk;
}

/**
 * Passes an encoded form on until it is larger than what it may decode to, and a little for bytes that no encoding
 * makes smaller: between two encodings, as on the wire, nothing grows without bound.
 */
async function* bounded(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  const bound = maxBytes + (maxBytes >>> 6) + 1024;
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > bound) throw tooLarge(maxBytes);
    yield chunk;
  }
}

/**
 * Reads a whole body, decoded, and no further than `maxBytes` of it, in about as much memory. Throws OutboundError
 * `too_large` or `bad_response`, or what the stream throws; the connection is then closed.
 */
export async function readBody(body: Readable, contentEncoding: string, maxBytes: number): Promise<Buffer> {
  const collector = new ByteCollector(maxBytes);
  try {
    let source: AsyncIterable<Buffer> = chunksOf(body);
    for (const encoding of encodingsOf(contentEncoding)) source = decode(bounded(source, maxBytes), encoding);
    for await (const chunk of source) collector.add(chunk);
    return collector.bytes();
  } finally {
    body.destroy();
  }
}
