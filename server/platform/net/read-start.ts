import type { Readable } from 'node:stream';

/**
 * How a body begins, at most `maxBytes` of it and at most what arrives before the stream fails. The connection lives on
 * when that was all of it.
 */
export async function readStart(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) continue;
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) break;
    }
  } catch {
    // What came until then is the beginning.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
