import { pipeline, type Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { OutboundError } from './outbound-error.ts';

/** Makes a decoder for a body that begins with these bytes. */
type MakeDecoder = (start: Buffer) => Transform;

/** `deflate` means zlib's format, but many servers send it without its header (as browsers know). */
const inflate: MakeDecoder = (start) => (((start[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw());

/** RFC 9659: over HTTP the window of zstd is 8 MB at most. Unbounded, a few bytes make the decoder reserve 128 MB. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

const DECODERS = new Map<string, MakeDecoder>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', inflate],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress({ params: ZSTD_PARAMS })],
]);

function decoderOf(encoding: string, start: Buffer): Transform {
  const make = DECODERS.get(encoding);
  if (!make) throw new OutboundError('bad_response', 'The answer has an encoding that was not asked for.');
  return make(start);
}

/**
 * Takes one encoding off, by its name in Content-Encoding, as far as it is read. Nothing at all is nothing decoded: the
 * answers to HEAD name an encoding too. Throws OutboundError `bad_response` for an unknown encoding and for bytes that
 * are not so encoded, and what the source throws.
 */
export async function* decode(source: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const start = await chunks.next();
  if (start.done) return;
  let hasSourceFailed = false;
  const encoded = async function* (): AsyncGenerator<Buffer> {
    yield start.value;
    try {
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
    } catch (error) {
      hasSourceFailed = true;
      throw error;
    }
  };
  const decoder = decoderOf(encoding, start.value);
  // The reader of the decoder is told of every failure; the callback is only there because it must be.
  pipeline(encoded, decoder, () => undefined);
  try {
    yield* decoder;
  } catch (error) {
    if (hasSourceFailed) throw error;
    throw new OutboundError('bad_response', 'The answer is not what its Content-Encoding says.', { cause: error });
  }
}
