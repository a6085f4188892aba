import { getEventListeners } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { closeAll, serveHttp, serveTcp } from './loopback.ts';
import { createTrustedClient, explainFailure, readText, type TrustedRequest } from './index.ts';

const client = createTrustedClient();

afterEach(closeAll);
afterAll(() => client.close());

function call(url: string, changes: Partial<TrustedRequest> = {}) {
  const signal = new AbortController().signal;
  const request = { method: 'POST', headers: {}, headersTimeoutMs: 5000, bodyTimeoutMs: 5000, signal } as const;
  return client.request({ ...request, url, ...changes });
}

/** What kind of failure the helper makes of a rejection. */
async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no failure',
    (error: unknown) => explainFailure(error),
  );
}

describe('the trusted client', () => {
  it('sends what it is given and streams what comes', async () => {
    const { url } = await serveHttp(async (request, response) => {
      response.writeHead(201, { 'x-asked': JSON.stringify([request.method, request.url, request.headers['x-key']]) });
      response.write('one ');
      response.end(await text(request));
    });
    const answer = await call(`${url}/v1/messages?a=b`, { headers: { 'x-key': 'k' }, body: 'two' });
    expect(answer).toMatchObject({ status: 201, headers: { 'x-asked': '["POST","/v1/messages?a=b","k"]' } });
    expect(await readText(answer.body, 100)).toBe('one two');
  });

  it('gives a redirect back as it is', async () => {
    const { url, connections } = await serveHttp((_request, response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    });
    const { status, body } = await call(url);
    expect([status, await readText(body, 10), connections()]).toEqual([307, '', 1]);
  });

  it('reads no faster than its reader', async () => {
    const total = 64 * 1024 * 1024;
    const { url, sockets } = await serveHttp((_request, response) => response.end(Buffer.alloc(total)));
    const { body } = await call(url);
    await body.arrival();
    // Sent once the reader of the socket is full: the write that follows does not drain until somebody reads.
    await expect.poll(() => sockets[0]?.writableNeedDrain).toBe(true);
    expect(sockets[0]?.bytesWritten).toBeLessThan(total + 1024);
    expect(body.waitingBytes).toBeLessThan(1024 * 1024);
    body.destroy();
  });

  it('stops reading text that is too large, and closes the connection', async () => {
    const { url, sockets } = await serveHttp((_request, response) => response.write('x'.repeat(1000)));
    const { body } = await call(url);
    await expect(readText(body, 100)).rejects.toMatchObject({ kind: 'too_large' });
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it('leaves no listener on a signal that lives on', async () => {
    const { url } = await serveHttp((_request, response) => response.end('x'));
    const { signal } = new AbortController();
    for (let count = 0; count < 20; count++) await readText((await call(url, { signal })).body, 10);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('keeps connections, one for each request at a time', async () => {
    const { url, connections } = await serveHttp((_request, response) => response.end('x'));
    const round = () => Promise.all([1, 2, 3].map(async () => readText((await call(url)).body, 10)));
    await round();
    expect(connections()).toBe(3);
    await round();
    expect(connections()).toBeLessThanOrEqual(4);
  });
});

describe('a failure', () => {
  it('of reaching the address is told from the others', async () => {
    const { url } = await serveHttp(() => undefined);
    await closeAll();
    expect(await failureOf(call(url))).toMatchObject({ kind: 'unreachable' });
  });

  it('to begin, and to go on, is a timeout', async () => {
    const { url } = await serveHttp((request, response) => {
      if (request.url === '/silent') response.write('x');
    });
    expect(await failureOf(call(url, { headersTimeoutMs: 50 }))).toMatchObject({ kind: 'timeout' });
    const { body } = await call(`${url}/silent`, { bodyTimeoutMs: 50 });
    expect(await failureOf(readText(body, 10))).toMatchObject({ kind: 'timeout' });
  });

  it('because the caller leaves is aborted: while connecting, waiting and reading', async () => {
    const silent = await serveTcp(() => undefined);
    const { url } = await serveHttp((request, response) => {
      if (request.url === '/body') response.write('x');
    });
    for (const target of [`https://127.0.0.1:${silent.port}/`, `${url}/`, `${url}/body`]) {
      const controller = new AbortController();
      const work = call(target, { signal: controller.signal }).then(({ body }) => readText(body, 10));
      const failure = failureOf(work);
      setImmediate(() => controller.abort());
      expect(await failure).toMatchObject({ kind: 'aborted' });
    }
  });

  it('that is a mistake of ours is left as it is', () => {
    const mistake = new TypeError('x is not a function');
    expect(explainFailure(mistake)).toBe(mistake);
  });
});
