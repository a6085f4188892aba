import { afterEach, expect, it } from 'vitest';
import { createOutbound } from './create-outbound.ts';
import { closeAll, serveDns, serveHttp } from './loopback.ts';
import type { ResolvedAddress } from './resolve-host.ts';

const call = { method: 'GET', headers: {}, timeoutMs: 5000, maxBytes: 1000, redirects: 'follow' } as const;

afterEach(closeAll);

it('a name is resolved once for a request, and what was checked is dialled', async () => {
  const server = await serveHttp((_request, response) => response.end('checked'));
  const dns = await serveDns((_name, nth) => [nth === 0 ? '127.0.0.1' : '10.0.0.1']);
  const outbound = createOutbound({ policy: { allowPrivate: false, allow: ['127.0.0.1'] }, lookup: dns.lookup });
  const answer = await outbound.request({ ...call, url: `http://rebinding.example:${server.port}/` });
  expect(answer.body.toString()).toBe('checked');
  expect(dns.asked).toEqual(['rebinding.example']);
  await outbound.close();
});

it('a name that has changed to a refused address is refused, although a connection to the first is open', async () => {
  const server = await serveHttp((_request, response) => response.end());
  const dns = await serveDns((_name, nth) => [nth === 0 ? '127.0.0.1' : '127.0.0.2']);
  const outbound = createOutbound({ policy: { allowPrivate: false, allow: ['127.0.0.1'] }, lookup: dns.lookup });
  const url = `http://rebinding.example:${server.port}/`;
  await outbound.request({ ...call, url });
  await expect(outbound.request({ ...call, url })).rejects.toMatchObject({ kind: 'refused' });
  expect(server.connections()).toBe(1);
  await outbound.close();
});

it.each([
  [['93.184.216.34', '127.0.0.1']],
  [['127.0.0.1', '93.184.216.34']],
  [['93.184.216.34', '169.254.169.254', '1.1.1.1']],
])('%s together are refused for the one that is not allowed', async (addresses) => {
  const server = await serveHttp((_request, response) => response.end());
  const dns = await serveDns(() => addresses);
  const outbound = createOutbound({ policy: { allowPrivate: false, allow: [] }, lookup: dns.lookup });
  const request = outbound.request({ ...call, url: `http://mixed.example:${server.port}/` });
  await expect(request).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('OUTBOUND_ALLOW=mixed.example'),
  });
  expect(server.connections()).toBe(0);
  await outbound.close();
});

it('a listed name opens whatever it resolves to', async () => {
  const server = await serveHttp((request, response) => response.end(request.headers.host));
  const dns = await serveDns(() => ['127.0.0.1']);
  const policy = { allowPrivate: false, allow: ['intranet.example'] };
  const outbound = createOutbound({ policy, lookup: dns.lookup });
  const answer = await outbound.request({ ...call, url: `http://Intranet.Example:${server.port}/` });
  expect(answer.body.toString()).toBe(`intranet.example:${server.port}`);
  await outbound.close();
});

it('a name that does not exist is unreachable', async () => {
  const dns = await serveDns(() => []);
  const outbound = createOutbound({ policy: { allowPrivate: false, allow: [] }, lookup: dns.lookup });
  await expect(outbound.request({ ...call, url: 'http://nowhere.example/' })).rejects.toMatchObject({
    kind: 'unreachable',
    message: 'The host nowhere.example could not be found.',
  });
  await outbound.close();
});

it('a name server that does not answer is given up in time', async () => {
  const dns = await serveDns(() => undefined);
  const outbound = createOutbound({ policy: { allowPrivate: false, allow: [] }, lookup: dns.lookup });
  const request = outbound.request({ ...call, url: 'http://silent.example/', timeoutMs: 50 });
  await expect(request).rejects.toMatchObject({ kind: 'timeout' });
  await outbound.close();
});

it('a caller that leaves while a name is resolved is told at once, and the answer is not dialled', async () => {
  const server = await serveHttp((_request, response) => response.end());
  const { promise: answer, resolve: giveAnswer } = Promise.withResolvers<ResolvedAddress[]>();
  const outbound = createOutbound({ policy: { allowPrivate: true, allow: [] }, lookup: () => answer });
  const controller = new AbortController();
  const url = `http://slow.example:${server.port}/`;
  const request = outbound.request({ ...call, url, signal: controller.signal });
  controller.abort();
  await expect(request).rejects.toMatchObject({ kind: 'aborted' });
  giveAnswer([{ address: '127.0.0.1', family: 4 }]);
  // Whatever the late answer sets off has happened once another request through the same door is complete.
  await outbound.request({ ...call, url });
  expect(server.connections()).toBe(1);
  await outbound.close();
});
