import { text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createOutbound, OutboundError, type OutboundRequest } from './index.ts';
import { closeAll, serveBytes, serveHttp, serveTcp } from './loopback.ts';

const outbound = createOutbound({ policy: { allowPrivate: true, allow: [] } });

afterEach(closeAll);
afterAll(() => outbound.close());

const plain = { method: 'GET', headers: {}, timeoutMs: 5000, maxBytes: 1e6, redirects: 'refuse' } as const;

function call(url: string, changes: Partial<OutboundRequest> = {}) {
  return outbound.request({ ...plain, url, ...changes });
}

/** What a request fails with; undefined when it does not. */
async function failureOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Answers with what was asked. */
function serveEcho() {
  return serveHttp(async (request, response) => {
    const { method, url, headers } = request;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method, url, headers, body: await text(request) }));
  });
}

async function echoOf(changes: Partial<OutboundRequest>): Promise<Record<string, unknown>> {
  const { url } = await serveEcho();
  return JSON.parse((await call(`${url}/a%20b?c=d#e`, changes)).body.toString());
}

describe('a request', () => {
  it('arrives as it was given, with what can be decoded and who asks', async () => {
    const echo = await echoOf({ method: 'post', body: 'grüße', headers: { 'X-One': 'ü is latin1' } });
    expect(echo).toMatchObject({ method: 'POST', url: '/a%20b?c=d', body: 'grüße' });
    expect(echo['headers']).toMatchObject({
      'x-one': 'ü is latin1',
      'user-agent': 'Tessera',
      'accept-encoding': 'gzip, deflate, br, zstd',
      'content-length': '7',
    });
    expect(await echoOf({ method: 'PUT', body: new Uint8Array([0x61, 0x62]) })).toMatchObject({ body: 'ab' });
  });

  it('does not take from its caller what belongs to the connection', async () => {
    const given = {
      Host: 'evil.example',
      'Content-Length': '9999',
      'Transfer-Encoding': 'chunked',
      Connection: 'x-keep, close',
      Upgrade: 'websocket',
      TE: 'trailers',
      Expect: '100-continue',
      'Proxy-Authorization': 'Basic x',
    };
    const { url, port } = await serveEcho();
    const { headers, body } = JSON.parse(
      (await call(url, { method: 'POST', body: 'four', headers: given })).body.toString(),
    );
    expect(body).toBe('four');
    expect(headers).toMatchObject({ host: `127.0.0.1:${port}`, 'content-length': '4', connection: 'keep-alive' });
    for (const name of ['transfer-encoding', 'upgrade', 'te', 'expect', 'proxy-authorization']) {
      expect(headers).not.toHaveProperty(name);
    }
  });

  it.each([
    [{ headers: { 'X-A': 'b\r\nX-Evil: 1' } }],
    [{ headers: { 'X-A': 'b\nc' } }],
    [{ headers: { 'X-A': 'b\0' } }],
    [{ headers: { 'X-A': '世界' } }],
    [{ headers: { 'X-A\r\nX-Evil': 'b' } }],
    [{ headers: { 'X A': 'b' } }],
    [{ headers: { '': 'b' } }],
    [{ method: 'GET / HTTP/1.1\r\nX-Evil: 1\r\n\r\n' }],
    [{ method: '' }],
    [{ method: 'CONNECT' }],
    [{ method: 'trace' }],
  ])('with %j is refused and not sent', async (changes) => {
    const { url, connections } = await serveEcho();
    await expect(call(url, changes)).rejects.toMatchObject({ name: 'OutboundError', kind: 'refused' });
    expect(connections()).toBe(0);
  });

  it('never makes more headers on the wire than it was given, whatever they hold', async () => {
    const { url } = await serveEcho();
    const piece = fc.string({ unit: 'binary', maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(piece, piece, async (name, value) => {
        const outcome = await call(url, { headers: { [name]: value } }).then(
          ({ body }) => Object.keys(JSON.parse(body.toString()).headers).length,
          (error: unknown) => (error instanceof OutboundError ? error.kind : error),
        );
        expect(['refused', 4, 5]).toContain(outcome);
      }),
    );
  });
});

describe('an answer', () => {
  it('has several values of a header joined, and its own name for what looks like a prototype', async () => {
    const { url } = await serveBytes(
      'HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n__proto__: c\r\nconstructor: d\r\ncontent-length: 0\r\n\r\n',
    );
    const { headers } = await call(url);
    expect(Object.entries(headers)).toEqual(
      expect.arrayContaining([
        ['set-cookie', 'a, b'],
        ['__proto__', 'c'],
        ['constructor', 'd'],
      ]),
    );
  });

  it('is what comes after the hints before it', async () => {
    const { url } = await serveBytes(
      'HTTP/1.1 103 Early Hints\r\nlocation: /hint\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    );
    const { status, headers, body } = await call(url, { redirects: 'follow' });
    expect({ status, location: headers['location'], body: String(body) }).toEqual({ status: 200, body: 'ok' });
  });

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('to %s with status %i has no body', async (method, status) => {
    const { url } = await serveHttp((_request, response) => response.writeHead(status, { etag: '"x"' }).end());
    expect(await call(url, { method })).toMatchObject({ status, headers: { etag: '"x"' }, body: Buffer.alloc(0) });
  });

  it.each([
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['a status that is none', 'HTTP/1.1 abc\r\n\r\n'],
    ['status 000', 'HTTP/1.1 000 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['a flood of headers', `HTTP/1.1 200 OK\r\n${'x-flood: 0123456789\r\n'.repeat(5000)}\r\n`],
    ['one huge header', `HTTP/1.1 200 OK\r\nx-huge: ${'x'.repeat(100_000)}\r\n\r\n`],
    [
      'a flood of trailers',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${'x: y\r\n'.repeat(50_000)}\r\n`,
    ],
  ])('that is %s is a bad one, and its connection is closed', async (_what, bytes) => {
    const { url, sockets } = await serveBytes(bytes);
    await expect(call(url)).rejects.toMatchObject({ name: 'OutboundError', kind: 'bad_response' });
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it('that ends before it is complete is a lost connection', async () => {
    const { url } = await serveTcp((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'));
    });
    await expect(call(url)).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('does not come from where nobody listens', async () => {
    const { url } = await serveEcho();
    await closeAll();
    await expect(call(url)).rejects.toMatchObject({ kind: 'unreachable', message: 'The connection was refused.' });
  });
});

describe('the time of a request', () => {
  it('bounds an answer that drips in', async () => {
    const { url, sockets } = await serveTcp((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'));
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 10);
      socket.once('close', () => clearInterval(timer));
    });
    await expect(call(url, { timeoutMs: 150 })).rejects.toMatchObject({
      kind: 'timeout',
      message: 'There was no complete answer within 150 ms.',
    });
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it.each([
    ['headers that drip in', 'x'],
    ['no answer', ''],
    ['promises of an answer', ': 1\r\n\r\nHTTP/1.1 103 Early Hints\r\nx'],
  ])('bounds %s', async (_what, piece) => {
    const { url } = await serveTcp((socket) => {
      if (piece !== '') socket.once('data', () => socket.write('HTTP/1.1 103 Early Hints\r\nx-drip'));
      const timer = setInterval(() => socket.write(piece), 10);
      socket.once('close', () => clearInterval(timer));
    });
    await expect(call(url, { timeoutMs: 150 })).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('bounds a connection that does not come about', async () => {
    const { port } = await serveTcp(() => undefined);
    // No TLS handshake is ever answered.
    const startedAt = performance.now();
    const request = call(`https://127.0.0.1:${port}/`, { timeoutMs: 100 });
    await expect(request).rejects.toMatchObject({ kind: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});

describe('a caller that leaves', () => {
  it.each([
    ['before there is an answer', ''],
    ['in the middle of the answer', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    [
      'in the middle of an encoded answer',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 10\r\n\r\n\x1f',
    ],
  ])('%s closes the connection at once', async (_when, bytes) => {
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    const { url, sockets } = await serveTcp((socket) => {
      socket.once('data', () => socket.write(Buffer.from(bytes, 'latin1'), () => resolve()));
    });
    const controller = new AbortController();
    const failure = failureOf(call(url, { signal: controller.signal }));
    await isAsked;
    const leftAt = performance.now();
    controller.abort();
    expect(await failure).toMatchObject({ kind: 'aborted', message: 'The request was given up.' });
    await expect.poll(() => sockets[0]?.destroyed, { interval: 5 }).toBe(true);
    expect(performance.now() - leftAt).toBeLessThan(1000);
  });

  it('while the connection is still being made is not kept waiting', async () => {
    const { promise: isConnected, resolve } = Promise.withResolvers<void>();
    const { port } = await serveTcp(() => resolve());
    const controller = new AbortController();
    const failure = failureOf(call(`https://127.0.0.1:${port}/`, { signal: controller.signal }));
    await isConnected;
    const leftAt = performance.now();
    controller.abort();
    expect(await failure).toMatchObject({ kind: 'aborted' });
    expect(performance.now() - leftAt).toBeLessThan(1000);
  });

  it('before the request sends nothing', async () => {
    const { url, connections } = await serveEcho();
    await expect(call(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' });
    expect(connections()).toBe(0);
  });
});

describe('connections', () => {
  it('stay open between requests', async () => {
    const { url, connections } = await serveEcho();
    for (let index = 0; index < 20; index++) await call(url);
    // A socket is free again a moment after its answer is complete, so a second one may have been opened.
    expect(connections()).toBeLessThan(5);
  });

  it('are not shared between names, addresses or policies', async () => {
    const { port, connections } = await serveHttp((_request, response) => response.end(), '0.0.0.0');
    let address = '127.0.0.1';
    const lookup = () => Promise.resolve([{ address, family: 4 }]);
    const doors = [0, 1].map(() => createOutbound({ policy: { allowPrivate: true, allow: [] }, lookup }));
    const send = async (host: string, door = doors[0]): Promise<void> => {
      await door?.request({ ...plain, url: `http://${host}:${port}/` });
    };
    await send('a.example');
    await send('b.example');
    address = '127.0.0.2';
    await send('a.example');
    await send('a.example', doors[1]);
    expect(connections()).toBe(4);
    await Promise.all(doors.map((door) => door.close()));
  });

  it('are closed with the door, and what is under way fails', async () => {
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    const { url } = await serveHttp(() => resolve());
    const door = createOutbound({ policy: { allowPrivate: true, allow: [] } });
    const request = door.request({ ...plain, url });
    const failure = failureOf(request);
    await isAsked;
    await door.close();
    expect(await failure).toMatchObject({ name: 'OutboundError' });
  });
});

it('what is registered is checked without being called', async () => {
  const { url, connections } = await serveEcho();
  expect(outbound.check(url).href).toBe(`${url}/`);
  const strict = createOutbound({ policy: { allowPrivate: false, allow: [] } });
  expect(() => strict.check(url)).toThrow('OUTBOUND_ALLOW=127.0.0.1');
  expect(strict.check('https://example.com/a').href).toBe('https://example.com/a');
  expect(connections()).toBe(0);
  await strict.close();
});
