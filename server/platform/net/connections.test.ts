import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createOutbound, createTrustedClient, type Outbound } from './index.ts';
import { closeAll, serveHttp, serveTcp } from './loopback.ts';
import type { ResolvedAddress } from './resolve-host.ts';

const call = { method: 'GET', headers: {}, timeoutMs: 20_000, maxBytes: 1000, redirects: 'follow' } as const;
const policy = { allowPrivate: true, allow: [] };
const toLoopback = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);

/** More than may stay open at a time. */
const MANY_ORIGINS = 300;
const MAX_ORIGINS = 256;

let outbound: Outbound;
beforeEach(() => {
  outbound = createOutbound({ policy, lookup: toLoopback });
});
afterEach(async () => {
  await outbound.close();
  await closeAll();
});

/** Answers at once, but those at /held only when they are released. */
async function serveHeld() {
  const held: ServerResponse[] = [];
  const server = await serveHttp((request, response) => {
    if (request.url === '/held') held.push(response);
    else response.end('x');
  });
  const openOthers = async (): Promise<void> => {
    for (let index = 0; index < MANY_ORIGINS; index++) {
      await outbound.request({ ...call, url: `http://h${index}.example:${server.port}/` });
    }
  };
  return { ...server, held, openOthers, heldUrl: `http://held.example:${server.port}/held` };
}

it('to origins that are given up finish what is under way and what waits', async () => {
  const { held, heldUrl, openOthers, sockets } = await serveHeld();
  // More than there are connections to one origin: some wait for their turn.
  const requests = Array.from({ length: 600 }, () => outbound.request({ ...call, url: heldUrl }));
  await expect.poll(() => held.length).toBe(512);
  await openOthers();
  const finished = Promise.all(requests);
  // Those that waited are held in their turn.
  const release = setInterval(() => {
    for (const response of held.splice(0)) response.end('done');
  }, 5);
  const bodies = (await finished).map(({ body }) => body.toString());
  clearInterval(release);
  expect(bodies).toEqual(requests.map(() => 'done'));
  await expect.poll(() => sockets.filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(MAX_ORIGINS);
});

it('to origins that are given up are closed with the door, too', async () => {
  const { held, heldUrl, openOthers, sockets } = await serveHeld();
  const failure = outbound.request({ ...call, url: heldUrl }).catch((error: unknown) => error);
  await expect.poll(() => held.length).toBe(1);
  await openOthers();
  await outbound.close();
  expect(await failure).toMatchObject({ name: 'OutboundError', kind: 'aborted' });
  await expect.poll(() => sockets.every((socket) => socket.destroyed)).toBe(true);
});

it('are not made after the door was closed, not even by requests that wait for a name', async () => {
  const { url, connections } = await serveHeld();
  const { promise: answer, resolve: giveAnswer } = Promise.withResolvers<ResolvedAddress[]>();
  const door = createOutbound({ policy, lookup: () => answer });
  const waiting = door.request({ ...call, url: url.replace('127.0.0.1', 'slow.example') });
  await door.close();
  giveAnswer(await toLoopback());
  await expect(waiting).rejects.toMatchObject({ kind: 'aborted' });
  await expect(door.request({ ...call, url })).rejects.toMatchObject({ kind: 'aborted' });
  expect(connections()).toBe(0);
});

it('that are still being made are closed with the door, although nobody waits for them any more', async () => {
  // No TLS handshake is ever answered.
  const { port, sockets } = await serveTcp((socket) => socket.resume());
  const client = createTrustedClient();
  const controller = new AbortController();
  const { signal } = controller;
  const url = `https://127.0.0.1:${port}/`;
  const limits = { headersTimeoutMs: 20_000, bodyTimeoutMs: 20_000 };
  const work = [
    outbound.request({ ...call, url, signal }),
    client.request({ method: 'GET', url, headers: {}, ...limits, signal }),
  ];
  const outcomes = Promise.allSettled(work);
  await expect.poll(() => sockets.length).toBe(2);
  controller.abort();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await Promise.all([outbound.close(), client.close()]);
  await expect.poll(() => sockets.every((socket) => socket.destroyed)).toBe(true);
});

it('are not kept for longer because the server asks for it', async () => {
  const { url, sockets } = await serveTcp((socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=600\r\ncontent-length: 0\r\n\r\n'));
  });
  await outbound.request({ ...call, url });
  await expect.poll(() => sockets[0]?.destroyed, { timeout: 10_000 }).toBe(true);
});

function okWith(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

it('are dropped when a server answers before it is asked', async () => {
  let asked = 0;
  const { url } = await serveTcp((socket) => {
    socket.on('data', () => socket.write(okWith(`real ${asked++}`) + okWith('planted')));
  });
  for (const body of ['real 0', 'real 1', 'real 2']) {
    expect((await outbound.request({ ...call, url })).body.toString()).toBe(body);
  }
});

it('leave no listener and no warning behind, however many requests one signal has', async () => {
  const { url, connections } = await serveHttp((_request, response) => response.end('x'));
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  const { signal } = new AbortController();
  const sendMany = async (): Promise<void> => {
    for (let count = 0; count < 200; count++) await outbound.request({ ...call, url, signal });
  };
  await Promise.all(Array.from({ length: 50 }, sendMany));
  process.off('warning', onWarning);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(warnings).toEqual([]);
  expect(connections()).toBeLessThan(100);
});

it('that are idle do not keep the process alive', async () => {
  const { url } = await serveHttp((_request, response) => response.end('x'));
  const door = JSON.stringify(new URL('index.ts', import.meta.url).href);
  const program = `
    const { createOutbound, createTrustedClient, readText } = await import(${door});
    const url = ${JSON.stringify(url)};
    await createOutbound({ policy: { allowPrivate: true, allow: [] } }).request({ ...${JSON.stringify(call)}, url });
    const signal = new AbortController().signal;
    const limits = { headersTimeoutMs: 60_000, bodyTimeoutMs: 60_000, signal };
    const { body } = await createTrustedClient().request({ method: 'GET', url, headers: {}, ...limits });
    await readText(body, 10);
    process.stdout.write(String(process.uptime()));
    process.on('exit', () => process.stdout.write(' ' + process.uptime()));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  const [doneAt = 0, exitedAt = Infinity] = output.split(' ').map(Number);
  expect(exitedAt - doneAt).toBeLessThan(1);
});
