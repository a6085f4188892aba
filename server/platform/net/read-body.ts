import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { OutboundError } from './outbound-error.ts';

/** Encodings that may lie over each other; more serve only to hide a bomb. */
const MAX_ENCODINGS = 2;

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** What is asked for; all of it can be decoded. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

function tooLarge(maxBytes: number): OutboundError {
  return new OutboundError('too_large', `The answer is larger than ${maxBytes} bytes.`);
}

/** The decoders for a Content-Encoding, in the order in which they are applied. */
function decodersFor(contentEncoding: string): Transform[] {
  const names = contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MAX_ENCODINGS) throw new OutboundError('bad_response', 'The answer is encoded too many times.');
  return names.toReversed().map((name) => {
    const create = DECODERS[name];
    if (!create) throw new OutboundError('bad_response', `The answer has the unknown encoding "${name}".`);
    return create();
  });
}

async function collect(source: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length);
}

/** Passes bytes on until there are too many: the encoded form is bounded like the decoded one. */
async function* bounded(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

/**
 * Reads a whole body, decoded. Stops at `maxBytes` of either form, holding no more than that and one chunk: what is
 * beyond is never decoded. Throws OutboundError `too_large` or `bad_response`, or what the stream throws.
 */
export async function readBody(body: Readable, contentEncoding: string, maxBytes: number): Promise<Buffer> {
  const decoders = decodersFor(contentEncoding);
  const last = decoders.at(-1);
  if (!last) return collect(body, maxBytes);
  // The callback is told of every failure; the one that matters reaches the reader of the last decoder too.
  pipeline([Readable.from(bounded(body, maxBytes)), ...decoders], () => undefined);
  try {
    return await collect(last, maxBytes);
  } catch (error) {
    if (error instanceof OutboundError || isAbort(error)) throw error;
    throw new OutboundError('bad_response', 'The answer is not what its Content-Encoding says.', { cause: error });
  } finally {
    body.destroy();
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
