import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { buffer } from 'node:stream/consumers';
import * as zlib from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createOutbound } from './create-outbound.ts';
import { closeAll, serveHttp, serveTcp } from './loopback.ts';

const MB = 1024 * 1024;
const outbound = createOutbound({ policy: { allowPrivate: true, allow: [] } });
const call = { method: 'GET', headers: {}, timeoutMs: 20_000, maxBytes: MB, redirects: 'refuse' } as const;

afterEach(closeAll);
afterAll(() => outbound.close());

/** Calls a server that answers with these bytes in this encoding. */
async function receive(encoding: string, bytes: Buffer, changes: { method?: string; maxBytes?: number } = {}) {
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
  });
  return outbound.request({ ...call, ...changes, url });
}

const ENCODERS: [string, (plain: Buffer) => Buffer][] = [
  ['gzip', (plain) => zlib.gzipSync(plain)],
  ['x-gzip', (plain) => zlib.gzipSync(plain)],
  ['GZIP', (plain) => zlib.gzipSync(plain)],
  ['deflate', (plain) => zlib.deflateSync(plain)],
  ['deflate', (plain) => zlib.deflateRawSync(plain)],
  ['br', (plain) => zlib.brotliCompressSync(plain)],
  ['zstd', (plain) => zlib.zstdCompressSync(plain)],
  ['gzip, br', (plain) => zlib.brotliCompressSync(zlib.gzipSync(plain))],
  ['identity', (plain) => plain],
];

/** A frame (RFC 8878, 3.1.1) of the one byte "x" with a window of 2 to this power. */
function zstdFrame(windowLog: number): Buffer {
  const lastRawBlockOfOne = (1 << 3) | 1;
  return Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3, lastRawBlockOfOne, 0, 0, 0x78]);
}

describe('an encoded answer', () => {
  it.each(ENCODERS)('in %s is decoded', async (encoding, encode) => {
    const plain = Buffer.from('Grüße, 世界! '.repeat(5000));
    expect((await receive(encoding, encode(plain))).body).toEqual(plain);
  });

  it.each(ENCODERS.slice(0, -1))('in %s is empty when there are no bytes', async (encoding) => {
    expect((await receive(encoding, Buffer.alloc(0))).body).toHaveLength(0);
    expect((await receive(encoding, Buffer.alloc(0), { method: 'HEAD' })).body).toHaveLength(0);
  });

  it.each(ENCODERS.slice(0, -1))('in %s that is cut off or no such thing is a bad answer', async (encoding, encode) => {
    const cut = encode(Buffer.from('cut off'.repeat(1000))).subarray(0, -9);
    await expect(receive(encoding, cut)).rejects.toMatchObject({ kind: 'bad_response' });
    await expect(receive(encoding, Buffer.alloc(1000, 0xff))).rejects.toMatchObject({ kind: 'bad_response' });
  });

  it.each([['compress'], ['constructor'], ['__proto__'], ['gzip, gzip, gzip']])(
    'in %s is a bad answer, and its connection is closed',
    async (encoding) => {
      const { url, sockets } = await serveHttp((_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).write(zlib.gzipSync('x'));
      });
      await expect(outbound.request({ ...call, url })).rejects.toMatchObject({ kind: 'bad_response' });
      await expect.poll(() => sockets[0]?.destroyed).toBe(true);
    },
  );

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('to %s with status %i is empty, whatever its encoding is called', async (method, status) => {
    const { url } = await serveHttp((_request, response) =>
      response.writeHead(status, { 'content-encoding': 'compress' }).end(),
    );
    expect(await outbound.request({ ...call, url, method })).toMatchObject({ status, body: Buffer.alloc(0) });
  });

  it('in zstd may not ask for a window above 8 MB', async () => {
    expect((await receive('zstd', zstdFrame(23))).body.toString()).toBe('x');
    await expect(receive('zstd', zstdFrame(24))).rejects.toMatchObject({ kind: 'bad_response' });
  });

  it('is over where its encoding ends, and the connection of what follows is closed', async () => {
    const { url, sockets } = await serveHttp((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(Buffer.concat([zlib.gzipSync('over'), Buffer.alloc(1000)]));
    });
    expect((await outbound.request({ ...call, url })).body.toString()).toBe('over');
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it('may be a little larger than its plain form without being too large', async () => {
    const plain = Buffer.from([1, 2, 3]);
    expect((await receive('gzip', zlib.gzipSync(plain), { maxBytes: 3 })).body).toEqual(plain);
  });
});

const BOMB_BYTES = 256 * MB;

/** So many zeros, encoded without ever being held. */
function bomb(encoder: zlib.Gzip | zlib.BrotliCompress): Promise<Buffer> {
  const zeros = Readable.from(Array.from({ length: BOMB_BYTES / MB }, () => Buffer.alloc(MB)));
  const [done, bytes] = [pipeline(zeros, encoder), buffer(encoder)];
  return done.then(() => bytes);
}

const fastBrotli = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } };
const BOMBS: [string, () => Promise<Buffer>][] = [
  ['gzip', () => bomb(zlib.createGzip({ level: 1 }))],
  ['deflate', () => bomb(zlib.createDeflate({ level: 1 }))],
  ['br', () => bomb(zlib.createBrotliCompress(fastBrotli))],
  ['zstd', () => bomb(zlib.createZstdCompress())],
  ['gzip, gzip', async () => zlib.gzipSync(await bomb(zlib.createGzip({ level: 1 })))],
  ['br, gzip', async () => zlib.gzipSync(await bomb(zlib.createBrotliCompress(fastBrotli)))],
];

describe('a decompression bomb', () => {
  it.each(BOMBS)('in %s is stopped at the limit, with little memory', async (encoding, make) => {
    const bytes = await make();
    expect(bytes.length).toBeLessThan(5 * MB);
    const peakBefore = process.resourceUsage().maxRSS;
    await expect(receive(encoding, bytes, { maxBytes: 8 * MB })).rejects.toMatchObject({
      kind: 'too_large',
      message: `The answer is larger than ${8 * MB} bytes.`,
    });
    const grownMb = (process.resourceUsage().maxRSS - peakBefore) / 1024;
    expect(grownMb).toBeLessThan(100);
  });

  it('that decodes to a form which decodes to nothing is stopped too', async () => {
    // A gzip header (RFC 1952, 2.3) with a file name that does not end.
    const header = Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 255]);
    const endlessName = zlib.gzipSync(Buffer.concat([header, Buffer.alloc(64 * MB, 'a')]), { level: 1 });
    await expect(receive('gzip, gzip', endlessName)).rejects.toMatchObject({ kind: 'too_large' });
  });
});

describe('the size of an answer', () => {
  it('may be exactly the limit', async () => {
    expect((await receive('identity', Buffer.alloc(MB))).body).toHaveLength(MB);
    await expect(receive('identity', Buffer.alloc(MB + 1))).rejects.toMatchObject({ kind: 'too_large' });
  });

  it('is bounded for a body that never ends, whose connection is closed', async () => {
    const { url, sockets } = await serveTcp((socket) => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const send = (): void => {
        while (socket.writable && socket.write(chunk));
      };
      socket.on('drain', send).once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        send();
      });
    });
    await expect(outbound.request({ ...call, url })).rejects.toMatchObject({ kind: 'too_large' });
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it('is what counts, not into how many pieces it is cut', async () => {
    const pieces = 200_000;
    const { url } = await serveTcp((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        socket.end(`${'1\r\nx\r\n'.repeat(pieces)}0\r\n\r\n`);
      });
    });
    const { body } = await outbound.request({ ...call, url });
    expect(body.length).toBe(pieces);
    expect(body.buffer.byteLength).toBeLessThanOrEqual(2 * pieces);
  });
});
