import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_KEY, callApi, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
const sockets: Socket[] = [];
beforeAll(async () => {
  app = await startTestApp();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => app.stop());

interface Line {
  socket: Socket;
  heard: () => string;
}

async function open(): Promise<Line> {
  const { port, hostname } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, heard: () => text };
}

/** Milliseconds of a request in the middle of ten, which an idle machine's hiccup does not move. */
async function medianMs(): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 10; i++) {
    const began = performance.now();
    expect((await app.call('GET', '/v1/tools')).status).toBe(200);
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[5] ?? Infinity;
}

const HEAD = `Host: x\r\nX-API-Key: ${ADMIN_KEY}\r\n`;

describe('connections that mean harm', () => {
  test.each([
    ['headers that never end', 'GET /v1/tools HTTP/1.1\r\nHost: x\r\nX-Drip: '],
    [
      'a body that never comes',
      `POST /v1/tools HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
    ],
    ['silence', ''],
    ['noise', '\u0016\u0003\u0001\u0002\u0000'],
    ['a broken chunk', `POST /v1/tools HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  ])('200 with %s leave the service as fast as before', async (_name, bytes) => {
    const before = await medianMs();
    const lines = await Promise.all(Array.from({ length: 200 }, open));
    for (const { socket } of lines) socket.write(bytes);
    expect(await medianMs()).toBeLessThan(before * 3 + 20);
  });

  test.each([
    ['headers', `GET /v1/tools HTTP/1.1\r\n${HEAD}X-Big: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a path', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${HEAD}\r\n`, 431],
    ['two lengths', `POST /v1/tools HTTP/1.1\r\n${HEAD}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
    ['no host', 'GET /v1/tools HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['an unknown method', `BREW /v1/tools HTTP/1.1\r\n${HEAD}\r\n`, 400],
    ['an unknown version', `GET /v1/tools HTTP/3.1\r\n${HEAD}\r\n`, 400],
  ])('%s beyond bounds: refused in our form', async (_name, bytes, status) => {
    const { socket, heard } = await open();
    const ended = once(socket, 'close');
    socket.write(bytes);
    await ended;
    expect(heard()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(heard()).toMatch(/x-ratelimit-limit: \d+/i);
    expect(heard()).toContain('"code":"INVALID_REQUEST"');
  });
});

describe('what HTTP allows', () => {
  test('pipelined requests are answered in their order', async () => {
    const { socket, heard } = await open();
    const paths = ['/v1/tools', '/v1/tools/absent', '/healthz', '/v1/auth/usage'];
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\n${HEAD}\r\n`).join(''));
    await expect.poll(() => heard().match(/HTTP\/1\.1 \d+/g)).toHaveLength(4);
    expect(
      heard()
        .match(/HTTP\/1\.1 \d+/g)
        ?.map((line) => line.slice(9)),
    ).toEqual(['200', '404', '200', '200']);
  });

  test.each(['/v1/tools', '/v1/auth/usage', '/healthz', '/readyz', '/openapi.json', '/docs'])(
    'of %s, HEAD gives the headers of GET and no body',
    async (path) => {
      const head = await app.call('HEAD', path);
      const get = await app.call('GET', path);
      expect(head.status).toBe(get.status);
      expect(head.body).toBe('');
      for (const name of ['content-type', 'content-length', 'x-ratelimit-limit']) {
        expect(head.headers.get(name)).toBe(get.headers.get(name));
      }
    },
  );

  test.each(['OPTIONS', 'PATCH', 'PROPFIND', 'TRACE'])('%s of a route that has no such method', async (method) => {
    const { socket, heard } = await open();
    socket.write(`${method} /v1/tools HTTP/1.1\r\n${HEAD}\r\n`);
    await expect.poll(heard).toMatch(/^HTTP\/1\.1 404 [^]*"code":"NOT_FOUND"/);
  });

  test('an expectation that nobody knows is ignored', async () => {
    const { socket, heard } = await open();
    socket.write(`GET /v1/tools HTTP/1.1\r\n${HEAD}Expect: miracles\r\n\r\n`);
    await expect.poll(heard).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a long path is not found', async () => {
    for (const path of [
      `/v1/tools/${'x'.repeat(15_000)}`,
      `/v1/${'x/'.repeat(7000)}`,
      `/v1/tools?q=${'x'.repeat(15_000)}`,
    ]) {
      const { status } = await callApi(app.url, { method: 'GET', path, key: ADMIN_KEY });
      expect(status).toBe(path.includes('?') ? 200 : 404);
    }
  });
});
