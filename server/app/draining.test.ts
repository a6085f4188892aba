import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { COUNTS, holdChats, isRefused, outcomeOf, type HeldChats } from '../testing/held-chats.ts';
import { queryRows } from '../testing/query-rows.ts';
import { ADMIN_KEY, callApi } from '../testing/start-test-app.ts';
import { cleanUpProcesses, startProcess } from '../testing/start-process.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { readAllSettings } from './settings.ts';
import { startService } from './start-service.ts';

let held: HeldChats;
let database: TestDatabase;
let env: Record<string, string>;
beforeEach(async () => {
  held = await holdChats();
  database = await createTestDatabase();
  env = { ...held.env, DATABASE_URL: database.url };
});
afterEach(async () => {
  await cleanUpProcesses();
  await held.vendor.close();
  await database.drop();
});

describe('while it stops', () => {
  test('/readyz says so, on a connection that was open already', async () => {
    const { service, reply } = await held.startWithChat({ env });
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    let heard = '';
    socket.setEncoding('utf8').on('data', (part: string) => (heard += part));
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => heard).toContain('"ok"');
    socket.write('GET /readyz HTTP/1.1\r\n');
    // Answered after what was written before it has arrived.
    await callApi(service.url, { method: 'GET', path: '/healthz' });
    service.signal('SIGTERM');
    await expect.poll(() => isRefused(service.url)).toBe(true);
    socket.write('Host: x\r\n\r\n');
    await expect.poll(() => heard).toContain('HTTP/1.1 503');
    expect(heard.slice(heard.indexOf('503'))).toMatch(/connection: close/i);
    held.release({ text: 'Done.' });
    expect((await reply).status).toBe(200);
    expect((await service.exited).code).toBe(0);
  });

  test('a stream goes on to its end, and an idle connection is closed at once', async () => {
    const service = await startProcess({ env });
    const { hostname, port } = new URL(service.url);
    const idle = connect(Number(port), hostname);
    idle.resume().write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    const reply = held.chat(service.url, '/v1/ai/chat/stream');
    held.release({ text: Array.from({ length: 40 }, (_, i) => `word${i} `), paceMs: 20 });
    await held.vendor.waitForRequests(1);
    const closed = once(idle, 'close');
    service.signal('SIGTERM');
    await closed;
    const { status, text } = await reply;
    expect(status).toBe(200);
    expect(text).toContain('word39');
    expect(text).toContain('"type":"done"');
    expect((await service.exited).code).toBe(0);
    expect([service.stderr(), ...service.warnings()]).toEqual(['']);
  });

  test('an answer that a slow client is still reading arrives whole', async () => {
    const service = await startProcess({ env });
    const description = 'x'.repeat(10_000);
    const register = (i: number) => {
      const body = { name: `tool_${i}`, description };
      return callApi(service.url, { method: 'POST', path: '/v1/tools', key: ADMIN_KEY, body });
    };
    const registered = await Promise.all(Array.from({ length: 800 }, (_, i) => register(i)));
    expect(new Set(registered.map(({ status }) => status))).toEqual(new Set([201]));
    const { hostname, port } = new URL(service.url);
    const slow = connect(Number(port), hostname);
    slow.pause();
    slow.write(`GET /v1/tools HTTP/1.1\r\nHost: x\r\nX-API-Key: ${ADMIN_KEY}\r\n\r\n`);
    await once(slow, 'readable');
    service.signal('SIGTERM');
    await expect.poll(() => isRefused(service.url)).toBe(true);
    let length = 0;
    for await (const part of slow) length += String(part).length;
    expect(length).toBeGreaterThan(800 * 10_000);
    expect((await service.exited).code).toBe(0);
  });
});

describe('a chat that hangs', () => {
  test.each(['/v1/ai/chat', '/v1/ai/chat/stream'])('%s is cut after the grace and metered', async (path) => {
    const settings = readAllSettings({ ...env, PORT: '0' });
    const service = await startService(settings, pino({ level: 'silent' }), { graceMs: 500 });
    const outcome = outcomeOf(held.chat(service.url, path));
    held.release(
      path.endsWith('stream') ? { text: ['a', 'b'], breakAfter: { fragments: 1, how: 'hang' } } : { hang: true },
    );
    await held.vendor.waitForRequests(1);
    const began = performance.now();
    await service.stop();
    expect(await outcome).toBe('cut');
    expect(performance.now() - began).toBeGreaterThan(450);
    expect(performance.now() - began).toBeLessThan(1500);
    expect(await queryRows(database.url, COUNTS)).toEqual([{ logged: 1, counted: 1, outcomes: 'abandoned' }]);
  });
});
