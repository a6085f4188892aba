import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';
import { testDataFile } from '../testing/test-data.ts';

let app: TestApp;
let twin: TestApp;
let target: ReturnType<typeof createServer>;
let targetUrl: string;
let developer: { id: string; key: string };

const ANSWERS: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/json': (request, response) => {
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ path: request.url, method: request.method }));
  },
  '/text': (_request, response) => response.end('just text'),
  '/lies': (_request, response) => response.setHeader('content-type', 'application/json').end('<html>'),
  '/empty': (_request, response) => response.writeHead(204).end(),
  '/huge': (_request, response) => response.end(Buffer.alloc(6 * 1024 * 1024, 'x')),
  '/bomb': (_request, response) => {
    response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(50 * 1024 * 1024)));
  },
  '/cut': (request) => request.socket.destroy(),
  '/teapot': (_request, response) => response.writeHead(418).end('short and stout'),
  '/deep': (_request, response) => response.end(`${'['.repeat(50_000)}${']'.repeat(50_000)}`),
  '/moved': (_request, response) => response.writeHead(302, { location: '/json?moved=1' }).end(),
};

beforeAll(async () => {
  target = createServer((request, response) => {
    const answer = ANSWERS[request.url?.split('?', 1)[0] ?? ''];
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const address = target.address();
  if (address === null || typeof address === 'string') throw new Error('the target has no port');
  targetUrl = `http://127.0.0.1:${address.port}`;
  app = await startTestApp();
  twin = await startTestApp({ DATABASE_URL: app.databaseUrl, OUTBOUND_PRIVATE: 'deny' });
});
afterAll(async () => {
  await twin.stop();
  await app.stop();
  target.close();
});
beforeEach(async () => {
  developer = await app.createDeveloper();
});

function call(method: string, path: string, body?: unknown) {
  return app.call(method, path, { key: developer.key, body });
}

function register(name: string, path = '/json', more: object = {}) {
  const execution = { type: 'http', method: 'GET', url: targetUrl + path };
  return call('POST', '/v1/tools', { name, description: 'A tool.', execution, ...more });
}

describe('the life of a tool', () => {
  test('registered, read, changed, listed, deleted', async () => {
    const created = await register('get order/ü', '/json', {
      appId: 'crm',
      input_schema: { type: 'object', z: 1, a: 2 },
    });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      _id: expect.stringMatching(/^tool_/),
      name: 'get order/ü',
      description: 'A tool.',
      appId: 'crm',
      developerId: developer.id,
      input_schema: { type: 'object', z: 1, a: 2 },
      execution: { type: 'http', method: 'GET', url: `${targetUrl}/json` },
      enabled: true,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const path = `/v1/tools/${encodeURIComponent('get order/ü')}`;
    expect((await call('GET', path)).body).toEqual(created.body);
    const changed = await call('PUT', path, { enabled: false, appId: null });
    expect(changed.body).toMatchObject({ enabled: false, description: 'A tool.' });
    expect(changed.body).not.toHaveProperty('appId');
    const again = await register('get order/ü');
    expect(again.body).toMatchObject({ updated: true, enabled: false, _id: pick(created.body, '_id') });
    expect(pick((await call('GET', path)).body, 'input_schema')).toEqual({ type: 'object', properties: {} });
    expect((await call('GET', '/v1/tools')).body).toEqual({
      tools: [
        {
          _id: pick(created.body, '_id'),
          name: 'get order/ü',
          description: 'A tool.',
          enabled: false,
          updatedAt: expect.any(String),
        },
      ],
      total: 1,
    });
    expect((await call('DELETE', path)).body).toEqual({ success: true });
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await call(method, path, method === 'PUT' ? {} : undefined)).status).toBe(404);
    }
  });

  test('of two registrations at the same time one creates and one updates', async () => {
    const answers = await Promise.all([register('same'), register('same')]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.filter(({ body }) => JSON.stringify(body).includes('"updated":true'))).toHaveLength(1);
  });

  test('a foreign tool is as an absent one', async () => {
    await register('mine');
    const other = await app.createDeveloper();
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
    ] as const) {
      const options = { key: other.key, body: method === 'GET' || method === 'DELETE' ? undefined : {} };
      const foreign = await app.call(method, `/v1/tools/mine${path}`, options);
      const absent = await app.call(method, `/v1/tools/none${path}`, options);
      expect(foreign.status).toBe(404);
      expect(JSON.stringify(foreign.body).replaceAll('mine', 'none')).toBe(JSON.stringify(absent.body));
    }
    expect((await call('GET', '/v1/tools/mine')).status).toBe(200);
  });

  test('pages hold every tool once, in order of name, also with a filter', async () => {
    const names = ['b', 'a', 'ü', 'Z', '订单', 'c'];
    for (const name of names) await register(name, '/json', name === 'c' ? {} : { appId: 'x' });
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await call('GET', `/v1/tools?appId=x&limit=2${cursor && `&cursor=${cursor}`}`);
      expect(pick(body, 'total')).toBe(5);
      const page = pick(body, 'tools');
      if (Array.isArray(page)) seen.push(...page.map((tool) => pickText(tool, 'name')));
      if (!JSON.stringify(body).includes('nextCursor')) break;
      cursor = pickText(body, 'nextCursor');
    }
    expect(seen).toEqual(['Z', 'a', 'b', 'ü', '订单']);
  });

  test('another process sees a change within a moment', async () => {
    await register('shared');
    expect((await twin.call('GET', '/v1/tools/shared', { key: developer.key })).status).toBe(200);
    await call('PUT', '/v1/tools/shared', { description: 'Changed.' });
    await expect
      .poll(async () => pick((await twin.call('GET', '/v1/tools/shared', { key: developer.key })).body, 'description'))
      .toBe('Changed.');
  });
});

describe('what is refused when it is given', () => {
  test.each([
    [{ name: 'packs' }, 'name must not be "packs"'],
    [{ name: '..' }, 'name must not be ".."'],
    [{ name: '  ' }, 'name must not be blank'],
    [{ execution: { type: 'http' } }, 'execution.url is required'],
    [{ execution: { type: 'http', url: 'ftp://a/b' } }, 'execution.url must start with'],
    [{ execution: { type: 'http', url: 'http://user:pass@a/b' } }, 'execution.url must not contain a user name'],
    [{ execution: { type: 'http', url: 'https://{host}/x' } }, 'execution.url must not have placeholders'],
    [{ execution: { type: 'http', url: 'https:{host}/x' } }, 'execution.url must not have placeholders'],
    [{ execution: { type: 'http', url: 'https:///{host}/x' } }, 'execution.url must not have placeholders'],
    [{ execution: { type: 'http', url: '//{host}/x' } }, 'execution.url must not have placeholders'],
    [{ execution: { type: 'http', url: 'http://a', headers: { Host: 'b' } } }, 'execution.headers.Host is set by'],
    [{ execution: { type: 'http', url: 'http://a', headers: { 'a b': 'c' } } }, 'execution.headers.a b is not'],
    [{ execution: { type: 'http', url: 'http://a', headers: { a: 'b\nc' } } }, 'execution.headers.a must not contain'],
    [{ input_schema: { type: 'string' } }, 'input_schema.type must be "object"'],
    [{ input_schema: { properties: { x: { type: 'numbr' } } } }, 'input_schema.properties.x.type must be'],
  ])('%j', async (part, message) => {
    const { status, body } = await call('POST', '/v1/tools', { name: 'x', description: 'y', ...part });
    expect(status).toBe(400);
    expect(pickText(body, 'error', 'message')).toContain(message);
    expect(pick((await call('GET', '/v1/tools')).body, 'total')).toBe(0);
  });
});

describe('trying a tool', () => {
  test.each([
    ['/json', { status: 'success', result: { path: '/json?a=1', method: 'GET' } }],
    ['/text', { status: 'success', result: 'just text' }],
    ['/empty', { status: 'success', result: null }],
    ['/moved', { status: 'success', result: { path: '/json?moved=1', method: 'GET' } }],
    ['/lies', { status: 'error', error: expect.stringContaining('says that it is JSON') }],
    ['/huge', { status: 'error', error: expect.stringContaining('larger than') }],
    ['/bomb', { status: 'error', error: expect.stringContaining('larger than') }],
    ['/cut', { status: 'error', error: expect.any(String) }],
    ['/teapot', { status: 'error', error: expect.stringContaining('HTTP 418: short and stout') }],
    ['/deep', { status: 'error', error: expect.stringContaining('deeper than') }],
  ])('%s', async (path, expected) => {
    await register('tried', path);
    const { status, body } = await call('POST', '/v1/tools/tried/test', { input: { a: 1 } });
    expect(status).toBe(200);
    expect(body).toEqual({ ...expected, elapsed_ms: expect.any(Number) });
  });

  test('a disabled tool is run; input that breaks the schema and a missing agent are told', async () => {
    await register('tried', '/text', { input_schema: { required: ['a'] } });
    await call('PUT', '/v1/tools/tried', { enabled: false });
    expect((await call('POST', '/v1/tools/tried/test', { input: { a: 1 } })).body).toMatchObject({ status: 'success' });
    expect((await call('POST', '/v1/tools/tried/test')).body).toMatchObject({
      status: 'error',
      error: 'input.a is required.',
    });
    await call('PUT', '/v1/tools/tried', { execution: { type: 'handler' } });
    const { body } = await call('POST', '/v1/tools/tried/test', { input: { a: 1 } });
    expect(body).toMatchObject({ status: 'error', error: expect.stringContaining('desktop agent') });
    expect((await call('POST', '/v1/ai/tool-call', { tool: 'tried', input: { a: 1 } })).status).toBe(400);
    await call('PUT', '/v1/tools/tried', { enabled: true });
    const missing = await call('POST', '/v1/ai/tool-call', { tool: 'tried', input: { a: 1 } });
    expect(missing.status).toBe(404);
    expect(missing.body).toEqual({ error: { message: expect.stringContaining('desktop agent') } });
  });

  test('private addresses are refused where the server says so, with the setting that opens them', async () => {
    await register('private');
    const { body } = await twin.call('POST', '/v1/tools/private/test', { key: developer.key });
    expect(body).toMatchObject({ status: 'error', error: expect.stringContaining('OUTBOUND_ALLOW=') });
  });
});

const naughty = testDataFile('strings/blns.json');

describe.skipIf(naughty === undefined)('naughty strings', () => {
  test('each is stored and read back byte-equal, or refused with 400', async () => {
    const strings: unknown = JSON.parse(readFileSync(naughty ?? '', 'utf8'));
    if (!Array.isArray(strings)) throw new Error('not a list');
    expect(strings.length).toBeGreaterThan(400);
    for (const text of strings.map(String)) {
      const body = {
        name: text,
        description: text,
        appId: text,
        input_schema: { properties: { [text]: { title: text } } },
      };
      const created = await call('POST', '/v1/tools', body);
      if (created.status === 400) continue;
      expect(created.status).toBe(201);
      const read = (await call('GET', `/v1/tools/${encodeURIComponent(text)}`)).body;
      expect(read).toMatchObject({ name: text, description: text, appId: text });
      expect(JSON.stringify(pick(read, 'input_schema'))).toBe(JSON.stringify(body.input_schema));
    }
    expect(Number(pick((await call('GET', '/v1/tools')).body, 'total'))).toBeGreaterThan(400);
  });
});
