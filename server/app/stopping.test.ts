import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request as sendRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { startScriptedVendor, type ScriptedVendor } from '../testing/scripted-vendor.ts';
import type { VendorTurn } from '../testing/scripted-vendor-turn.ts';
import { ADMIN_KEY, callApi, pick } from '../testing/start-test-app.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import {
  cleanUpProcesses,
  databaseUrlOf,
  postgresPid,
  spawnProcess,
  startProcess,
  type ProcessOptions,
  type ServiceProcess,
} from '../testing/start-process.ts';
import { readAllSettings } from './settings.ts';
import { startService } from './start-service.ts';

let vendor: ScriptedVendor;
/** Lets the vendor answer what it holds back. */
let release: (turn: VendorTurn) => void;
let held: Promise<VendorTurn>;
let env: Record<string, string>;

beforeEach(async () => {
  ({ promise: held, resolve: release } = Promise.withResolvers<VendorTurn>());
  vendor = await startScriptedVendor({ script: () => held });
  env = { AI_DEFAULT_BASE_URL: vendor.baseUrl, AI_DEFAULT_API_KEY: 'vendor-key', BOOTSTRAP_API_KEY: ADMIN_KEY };
});
afterEach(async () => {
  await cleanUpProcesses();
  await vendor.close();
});

interface Reply {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  text: string;
}

/** A chat over a connection that would like to stay open. */
async function chat(url: string, path = '/v1/ai/chat'): Promise<Reply> {
  const request = sendRequest(url + path, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json', connection: 'keep-alive' },
  });
  request.end(JSON.stringify({ message: 'Hello' }));
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('there was no response');
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode, headers: response.headers, text };
}

function outcomeOf(reply: Promise<Reply>): Promise<string> {
  return reply.then(
    () => 'answered',
    () => 'cut',
  );
}

const COUNTS = `select (select count(*)::int from call_log) as logged,
  (select coalesce(sum(requests), 0)::int from usage_counters) as counted,
  (select coalesce(string_agg(outcome, ','), '') from ai_usage) as outcomes`;

async function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  return promise.finally(() => socket.destroy());
}

/** Nothing is wrong with a stop that was asked for. */
function expectNoComplaint(service: ServiceProcess): void {
  expect(service.warnings()).toEqual([]);
  expect(service.stderr()).toBe('');
}

/** A chat is under way at the vendor. */
async function startWithChat(
  options: ProcessOptions = {},
): Promise<{ service: ServiceProcess; reply: Promise<Reply> }> {
  const service = await startProcess({ env, ...options });
  const reply = chat(service.url);
  await vendor.waitForRequests(1);
  return { service, reply };
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (name) => {
  test('lets a chat finish, tells its connection to close, flushes what was counted and stops the database', async () => {
    const { service, reply } = await startWithChat();
    await callApi(service.url, { method: 'GET', path: '/v1/tools', key: ADMIN_KEY });
    service.signal(name);
    await expect.poll(() => isRefused(service.url)).toBe(true);
    release({ text: 'Done.' });
    expect(await reply).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(pick(JSON.parse((await reply).text), 'response')).toBe('Done.');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(await postgresPid(service.dataDir)).toBeUndefined();
    expectNoComplaint(service);

    const again = await startProcess({ dataDir: service.dataDir, env });
    const rows = await queryRows(databaseUrlOf(service.dataDir), COUNTS);
    expect(rows).toEqual([{ logged: 2, counted: 2, outcomes: 'finished' }]);
    await again.stop();
  });
});

describe('while it stops', () => {
  test('/readyz says so, on a connection that was open already', async () => {
    const { service, reply } = await startWithChat();
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
    release({ text: 'Done.' });
    expect((await reply).status).toBe(200);
    expect((await service.exited).code).toBe(0);
  });

  test('a stream goes on to its end, and an idle connection is closed at once', async () => {
    const service = await startProcess({ env });
    const { hostname, port } = new URL(service.url);
    const idle = connect(Number(port), hostname);
    idle.resume().write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    const reply = chat(service.url, '/v1/ai/chat/stream');
    release({ text: Array.from({ length: 40 }, (_, i) => `word${i} `), paceMs: 20 });
    await vendor.waitForRequests(1);
    const closed = once(idle, 'close');
    service.signal('SIGTERM');
    await closed;
    const { status, text } = await reply;
    expect(status).toBe(200);
    expect(text).toContain('word39');
    expect(text).toContain('"type":"done"');
    expect((await service.exited).code).toBe(0);
    expectNoComplaint(service);
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

  test('a second signal ends it at once; the database is found again', async () => {
    const { service, reply } = await startWithChat();
    const outcome = outcomeOf(reply);
    service.signal('SIGTERM');
    // The same signal twice within moments is one: npm passes on what the terminal has sent already.
    await expect.poll(() => isRefused(service.url)).toBe(true);
    const began = performance.now();
    const insist = setInterval(() => service.signal('SIGINT'), 50);
    expect(await service.exited).toEqual({ code: 130, signal: null });
    clearInterval(insist);
    expect(await outcome).toBe('cut');
    expect(performance.now() - began).toBeLessThan(2000);
    const again = await startProcess({ dataDir: service.dataDir, env });
    expect((await again.stop()).code).toBe(0);
  });
});

describe('a chat that hangs', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  test.each(['/v1/ai/chat', '/v1/ai/chat/stream'])('%s is cut after the grace and metered', async (path) => {
    const settings = readAllSettings({ ...env, PORT: '0', DATABASE_URL: database.url });
    const service = await startService(settings, pino({ level: 'silent' }), { graceMs: 500 });
    const outcome = outcomeOf(chat(service.url, path));
    release(path.endsWith('stream') ? { text: ['a', 'b'], breakAfter: { fragments: 1, how: 'hang' } } : { hang: true });
    await vendor.waitForRequests(1);
    const began = performance.now();
    await service.stop();
    expect(await outcome).toBe('cut');
    expect(performance.now() - began).toBeGreaterThan(450);
    expect(performance.now() - began).toBeLessThan(1500);
    expect(await queryRows(database.url, COUNTS)).toEqual([{ logged: 1, counted: 1, outcomes: 'abandoned' }]);
  });
});

describe('a signal while it starts', () => {
  test.each(['postgres.new-', 'postgres.log'])(
    'once there is %s: stops cleanly and leaves no database',
    async (file) => {
      const service = await spawnProcess();
      const names = (): Promise<string[]> => readdir(service.dataDir);
      await expect
        .poll(async () => (await names()).some((name) => name.startsWith(file)), { interval: 5, timeout: 10_000 })
        .toBe(true);
      service.signal('SIGTERM');
      expect(await service.exited).toEqual({ code: 0, signal: null });
      expect(service.stdout()).not.toContain('is ready');
      expectNoComplaint(service);
      expect(await postgresPid(service.dataDir)).toBeUndefined();
    },
  );
});

describe('below npm start', () => {
  test.each(['group', 'npm'])('a signal to %s stops the service cleanly', async (whom) => {
    const { service, reply } = await startWithChat({ byNpm: true });
    if (whom === 'group') service.signalGroup('SIGINT');
    else service.signal('SIGTERM');
    await expect.poll(() => isRefused(service.url)).toBe(true);
    release({ text: 'Done.' });
    expect((await reply).status).toBe(200);
    await service.exited;
    expect(service.warnings()).toEqual([]);
    expect(await postgresPid(service.dataDir)).toBeUndefined();
  });
});
