import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutbound, type Outbound, type OutboundRequest } from './create-outbound.ts';
import { closeAll, serveHttp, type LoopbackServer } from './loopback.ts';

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: Record<string, unknown>;
  body: string;
}

/** What every server was asked, in order. */
let seen: Seen[];
let outbound: Outbound;

/** `/302?http://target/` redirects there with that status; everything else answers. */
function serve(): Promise<LoopbackServer> {
  return serveHttp(async (request, response) => {
    const { method, url = '', headers } = request;
    seen.push({ method, url, headers, body: await text(request) });
    const [, status, location] = /^\/(3\d\d)\?(.*)$/.exec(url) ?? [];
    if (status === undefined) response.end('arrived');
    else response.writeHead(Number(status), { location }).end('moved');
  });
}

function call(url: string, changes: Partial<OutboundRequest> = {}) {
  const request = { method: 'GET', headers: {}, timeoutMs: 5000, maxBytes: 1000, redirects: 'follow' } as const;
  return outbound.request({ ...request, url, ...changes });
}

beforeEach(() => {
  seen = [];
  outbound = createOutbound({
    policy: { allowPrivate: false, allow: ['a.example', 'b.example'] },
    lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
  });
});
afterEach(async () => {
  await outbound.close();
  await closeAll();
});

describe('a redirect', () => {
  it('is the answer itself where redirects are not followed', async () => {
    const { port } = await serve();
    const answer = await call(`http://a.example:${port}/302?/next`, { redirects: 'refuse' });
    expect(answer).toMatchObject({ status: 302, headers: { location: '/next' }, body: Buffer.from('moved') });
    expect(seen).toHaveLength(1);
  });

  it('is followed to the same host alone where that is asked for', async () => {
    const { port } = await serve();
    const host = `a.example:${port}`;
    const answer = await call(`http://${host}/302?/next`, { redirects: 'same-host' });
    expect(answer).toMatchObject({ status: 200, url: `http://${host}/next` });
    const elsewhere = call(`http://${host}/307?http://b.example:${port}/next`, {
      method: 'POST',
      body: 'x',
      redirects: 'same-host',
    });
    await expect(elsewhere).rejects.toMatchObject({
      kind: 'refused',
      message: `The address redirects to b.example:${port}, another host than ${host}.`,
    });
    expect(seen.map(({ headers }) => headers['host'])).toEqual([host, host, host]);
  });

  it('is followed, relative to where it came from', async () => {
    const { port } = await serve();
    const answer = await call(`http://a.example:${port}/302?next?x=1`);
    expect(answer).toMatchObject({ status: 200, url: `http://a.example:${port}/next?x=1` });
    expect(answer.body.toString()).toBe('arrived');
  });

  it.each([
    ['http://127.0.0.1:PORT/'],
    ['http://[::ffff:127.0.0.1]:PORT/'],
    ['http://2130706433:PORT/'],
    ['http://localhost:PORT/'],
    ['http://c.example:PORT/'],
    ['//127.0.0.1:PORT/'],
    ['http://user:secret@a.example:PORT/'],
    ['file:///etc/passwd'],
    ['ftp://a.example/'],
  ])('to %s is refused', async (location) => {
    const { port, connections } = await serve();
    const target = location.replace('PORT', String(port));
    await expect(call(`http://a.example:${port}/302?${target}`)).rejects.toMatchObject({ kind: 'refused' });
    expect([seen.length, connections()]).toEqual([1, 1]);
  });

  it('that goes round in a loop is given up after five', async () => {
    const { port } = await serveHttp((request, response) => {
      seen.push({ method: 'GET', url: request.url, headers: {}, body: '' });
      response.writeHead(302, { location: `/${seen.length}` }).end();
    });
    await expect(call(`http://a.example:${port}/`)).rejects.toMatchObject({
      kind: 'bad_response',
      message: 'The address redirects too often.',
    });
    expect(seen.map(({ url }) => url)).toEqual(['/', '/1', '/2', '/3', '/4', '/5']);
  });

  it('without a readable address is a bad answer, and one without any an answer', async () => {
    const { port } = await serve();
    await expect(call(`http://a.example:${port}/302?http://[`)).rejects.toMatchObject({ kind: 'bad_response' });
    const bare = await serveHttp((_request, response) => response.writeHead(304).end());
    expect(await call(`http://a.example:${bare.port}/`)).toMatchObject({ status: 304 });
  });

  it.each([
    ['followed', '/next', { status: 200 }],
    ['refused', 'http://127.0.0.1/', { kind: 'refused' }],
  ])('with an endless body is %s all the same, and its connection closed', async (_what, location, outcome) => {
    const { port, sockets } = await serveHttp((request, response) => {
      if (request.url === '/next') response.end('arrived');
      else response.writeHead(302, { location, 'content-length': 1e9 }).write(Buffer.alloc(1e6));
    });
    const answer = await call(`http://a.example:${port}/`).catch((error: unknown) => error);
    expect(answer).toMatchObject(outcome);
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  });

  it('does not get more time than the whole request', async () => {
    const { port } = await serveHttp((request, response) => {
      if (request.url !== '/next') response.writeHead(302, { location: '/next' }).end();
    });
    await expect(call(`http://a.example:${port}/`, { timeoutMs: 100 })).rejects.toMatchObject({ kind: 'timeout' });
  });
});

describe('what is sent to the target of a redirect', () => {
  const post = { method: 'POST', body: '{"a":1}', headers: { 'Content-Type': 'application/json', 'X-Mine': '1' } };

  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [301, 'PUT', 'PUT'],
    [302, 'DELETE', 'DELETE'],
    [307, 'POST', 'POST'],
    [308, 'PATCH', 'PATCH'],
    [303, 'HEAD', 'HEAD'],
  ])('after %i to a %s is a %s, with the body exactly if the method stays', async (status, method, expected) => {
    const { port } = await serve();
    const body = method === 'HEAD' ? {} : { body: post.body };
    await call(`http://a.example:${port}/${status}?/next`, { headers: post.headers, method, ...body });
    const stays = method === expected && method !== 'HEAD';
    expect(seen[1]).toMatchObject({ method: expected, body: stays ? post.body : '', headers: { 'x-mine': '1' } });
    expect('content-type' in (seen[1]?.headers ?? {})).toBe(method === expected);
  });

  it('has no header of the caller across origins that could be a credential, and gets none back on return', async () => {
    const [a, b] = [await serve(), await serve()];
    const home = `http://a.example:${a.port}/home`;
    await call(`http://a.example:${a.port}/307?http://b.example:${b.port}/307?${home}`, {
      method: 'POST',
      body: 'x',
      headers: {
        Authorization: 'Bearer secret',
        Cookie: 'session=secret',
        'X-Api-Key': 'secret',
        'Content-Type': 'text/plain',
        Accept: 'text/html',
        'User-Agent': 'Mine',
      },
    });
    expect(seen.map(({ body }) => body)).toEqual(['x', 'x', 'x']);
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret', cookie: 'session=secret' });
    for (const { headers } of seen.slice(1)) {
      expect(JSON.stringify(headers)).not.toContain('secret');
      expect(headers).toMatchObject({ 'content-type': 'text/plain', accept: 'text/html', 'user-agent': 'Mine' });
    }
  });

  it.each([['another port'], ['another name']])('has no credentials for %s', async (what) => {
    const [a, b] = [await serve(), await serve()];
    const target = what === 'another port' ? `http://a.example:${b.port}/` : `http://b.example:${a.port}/`;
    await call(`http://a.example:${a.port}/302?${target}`, { headers: { Authorization: 'Bearer secret' } });
    expect(seen[1]?.headers).not.toHaveProperty('authorization');
  });
});
