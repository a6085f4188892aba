import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOutbound } from '../../../platform/net/index.ts';
import { fakeStep, stepFailure } from './fake-step.ts';
import { createHttpRequest } from './http-request.ts';

interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

const outbound = createOutbound({ policy: { allowPrivate: true, allow: [] } });
const run = createHttpRequest(outbound);
let server: Server;
let origin: string;
let received: Received[] = [];
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      if (url === '/from') response.writeHead(302, { location: '/to' }).end();
      else answer(response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on TCP
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  received = [];
  answer = (response) => response.setHeader('content-type', 'application/json').end('{"ok":true}');
});

afterAll(async () => {
  await outbound.close();
  server.closeAllConnections();
  server.close();
});

describe('what is sent', () => {
  test('a GET with the id of the attempt', async () => {
    const result = await run({ url: `${origin}/a?b=1` }, fakeStep());
    expect(result).toMatchObject({ status: 200, body: { ok: true } });
    expect(received).toMatchObject([
      { method: 'GET', url: '/a?b=1', body: '', headers: { 'idempotency-key': 'run_1:n:1' } },
    ]);
  });

  test('a POST with an object as JSON, params behind the query, headers of texts and numbers', async () => {
    const config = {
      url: `${origin}/a?b=1`,
      params: { c: 'ü&', list: [1, true], gone: null },
      headers: { 'X-Count': 3, 'Idempotency-Key': 'mine', 'X-Gone': null },
      body: { 你: [1] },
    };
    await run(config, fakeStep());
    expect(received).toMatchObject([
      {
        method: 'POST',
        url: '/a?b=1&c=%C3%BC%26&list=1&list=true',
        body: '{"你":[1]}',
        headers: { 'x-count': '3', 'idempotency-key': 'mine', 'content-type': 'application/json' },
      },
    ]);
    expect(received[0]?.headers).not.toHaveProperty('x-gone');
  });

  test('a text as it is', async () => {
    await run({ method: 'put', url: origin, body: 'a=1', headers: { 'Content-Type': 'text/x' } }, fakeStep());
    await run({ url: origin, body: 'a=1' }, fakeStep());
    expect(received).toMatchObject([
      { method: 'PUT', body: 'a=1', headers: { 'content-type': 'text/x' } },
      { method: 'POST', body: 'a=1', headers: { 'content-type': 'text/plain; charset=utf-8' } },
    ]);
  });

  test('the id of a node whose name headers cannot hold', async () => {
    await run({ url: origin }, fakeStep({ attemptId: 'run_1:问 a:1' }));
    expect(received[0]?.headers['idempotency-key']).toBe('run_1:%E9%97%AE%20a:1');
  });

  test('where a redirect leads', async () => {
    await run({ url: `${origin}/from` }, fakeStep());
    expect(received.map(({ url }) => url)).toEqual(['/from', '/to']);
  });
});

test.each([
  ['application/json', '[1]', [1]],
  ['text/plain', ' {"a":1}', { a: 1 }],
  ['text/plain', '{not json', '{not json'],
  ['text/plain', '12', '12'],
  ['text/plain; charset=gbk', Buffer.from([0xc4, 0xe3]), '你'],
  ['text/html', '', null],
])('an answer of %s %j is %j', async (type, sent, body) => {
  answer = (response) => response.setHeader('content-type', type).end(sent);
  expect(await run({ url: origin }, fakeStep())).toMatchObject({
    status: 200,
    body,
    headers: { 'content-type': type },
  });
});

describe('a step that fails', () => {
  test('on a bad status, with the answer for its result', async () => {
    answer = (response) => response.writeHead(503, { 'content-type': 'application/json' }).end('{"retry":true}');
    const failure = await stepFailure(run({ url: origin }, fakeStep()));
    expect(failure.message).toBe(`HTTP 503 from ${new URL(origin).host}.`);
    expect(failure.result).toMatchObject({ status: 503, body: { retry: true } });
  });

  test('on an answer that is not what it says', async () => {
    answer = (response) => response.setHeader('content-type', 'application/json').end('{');
    const failure = await stepFailure(run({ url: origin }, fakeStep()));
    expect(failure.message).toContain('says that it is JSON, but is not');
    expect(failure.result).toMatchObject({ status: 200, body: null });
  });

  test('on bytes that are no text', async () => {
    answer = (response) => response.setHeader('content-type', 'image/png').end(Buffer.from([0x89, 0, 1]));
    expect((await stepFailure(run({ url: origin }, fakeStep()))).message).toContain('is not text');
  });

  test('on an answer that is too large', async () => {
    answer = (response) => response.end(Buffer.alloc(5 * 1024 * 1024 + 1, 'a'));
    expect((await stepFailure(run({ url: origin }, fakeStep()))).message).toContain('larger than 5242880 bytes');
  });

  test('when its signal ends it', async () => {
    const abort = new AbortController();
    answer = () => abort.abort();
    const failure = await stepFailure(run({ url: origin }, fakeStep({ signal: abort.signal })));
    expect(failure.message).toBe('The request was given up.');
  });

  test('when the address is not for this server', async () => {
    const guarded = createOutbound({ policy: { allowPrivate: false, allow: [] } });
    const failure = await stepFailure(createHttpRequest(guarded)({ url: origin }, fakeStep()));
    expect(failure.message).toContain('OUTBOUND_ALLOW');
    expect(received).toEqual([]);
    await guarded.close();
  });

  test.each([
    [{}, 'config.url is missing'],
    [{ url: 'nowhere', params: { a: 1 } }, 'not a valid URL'],
    [{ url: 'file:///etc/passwd' }, 'Only http and https'],
    [{ url: 'http://x.example', method: 'TRACE' }, 'not a method'],
    [{ url: 'http://x.example', headers: { a: 'b\r\nc: d' } }, 'line break'],
    [{ url: 'http://x.example', headers: { a: {} } }, 'config.headers.a must be a text or a number'],
    [{ url: 'http://x.example', headers: 'a: b' }, 'config.headers must be an object'],
    [{ url: 'http://x.example', params: { a: { b: 1 } } }, 'config.params.a must be'],
  ])('%j', async (config, message) => {
    expect((await stepFailure(run(config, fakeStep()))).message).toContain(message);
    expect(received).toEqual([]);
  });
});
