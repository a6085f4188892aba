import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_KEY, callApi, pick, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const LIMIT_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

describe('who may come in', () => {
  test.each([
    ['no key', {}],
    ['an unknown key', { 'x-api-key': 'tsk_0123456789' }],
    ['a well-formed key that nobody has', { 'x-api-key': 'tsk_000000000000000000000000000000002gCjE4' }],
    ['an empty key', { 'x-api-key': '' }],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
  ])('%s is 401 with the limit headers', async (_name, headers) => {
    const answer = await callApi(app.url, { method: 'GET', path: '/v1/tools', headers });
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ error: { code: 'UNAUTHORIZED', message: expect.any(String) } });
    for (const name of LIMIT_HEADERS) expect(answer.headers.get(name)).toMatch(/^\d+$/);
  });

  test.each([
    ['X-API-Key', { 'x-api-key': ADMIN_KEY }],
    ['Authorization: Bearer', { authorization: `Bearer ${ADMIN_KEY}` }],
  ])('%s carries the key', async (_name, headers) => {
    const answer = await callApi(app.url, { method: 'GET', path: '/v1/auth/usage', headers });
    expect(answer.status).toBe(200);
    expect(Number(answer.headers.get('x-ratelimit-limit'))).toBe(10_000);
    const reset = Number(answer.headers.get('x-ratelimit-reset'));
    expect(reset).toBeGreaterThan(Date.now() / 1000 - 1);
    expect(reset).toBeLessThan(Date.now() / 1000 + 62);
  });

  test('a read key may not write, and is told which permission is needed', async () => {
    const { key } = await app.createKey(ADMIN_KEY, ['read']);
    const answer = await app.call('POST', '/v1/tools', { key, body: { name: 'a', description: 'b' } });
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({ error: { code: 'FORBIDDEN', message: expect.stringContaining('write permission') } });
  });

  test('an admin key may neither read nor write', async () => {
    const { key } = await app.createKey(ADMIN_KEY, ['admin']);
    expect((await app.call('GET', '/v1/tools', { key })).status).toBe(403);
    expect((await app.call('POST', '/v1/tools', { key, body: {} })).status).toBe(403);
    expect((await app.call('POST', '/v1/auth/api-keys', { key, body: { permissions: ['admin'] } })).status).toBe(201);
  });
});

describe('what is refused, and how', () => {
  test.each([
    ['broken JSON', '{"name":', 'application/json', 400, 'INVALID_JSON'],
    ['no JSON at all', 'name=x', 'application/x-www-form-urlencoded', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['text', 'x', 'text/plain', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a list', '[]', 'application/json', 400, 'INVALID_REQUEST'],
    ['null', 'null', 'application/json', 400, 'INVALID_REQUEST'],
    ['a prototype', '{"__proto__":{}}', 'application/json', 400, 'INVALID_JSON'],
    ['a wrong type', '{"name":1,"description":"x"}', 'application/json', 400, 'INVALID_REQUEST'],
    ['NUL', '{"name":"a","description":"\\u0000"}', 'application/json', 400, 'INVALID_REQUEST'],
    ['a lone surrogate', '{"name":"a","description":"\\ud800"}', 'application/json', 400, 'INVALID_REQUEST'],
    ['a deep body', '['.repeat(5000), 'application/json', 400, 'INVALID_JSON'],
  ])('%s', async (_name, body, type, status, code) => {
    const answer = await app.call('POST', '/v1/tools', { body, headers: { 'content-type': type } });
    expect(answer.status).toBe(status);
    expect(pick(answer.body, 'error', 'code')).toBe(code);
    for (const name of LIMIT_HEADERS) expect(answer.headers.get(name)).toMatch(/^\d+$/);
  });

  test.each([
    [{ description: 'x' }, 'name'],
    [{ name: 'x' }, 'description'],
    [{ name: '', description: 'x' }, 'name'],
    [{ name: 'x', description: 'x', execution: { type: 'ftp' } }, 'execution.type'],
    [{ name: 'x', description: 'x', execution: { type: 'http', url: 'http://a', method: 'BREW' } }, 'execution.method'],
    [{ name: 'x\ny', description: 'x' }, 'name'],
    [{ name: 'x'.repeat(129), description: 'x' }, 'name'],
  ])('%j names the field', async (body, field) => {
    const answer = await app.call('POST', '/v1/tools', { body });
    expect(answer.status).toBe(400);
    expect(pick(answer.body, 'error', 'message')).toMatch(new RegExp(`^${field.replace('.', '\\.')}\\b`));
  });

  test('a body over 10 MB is 413, and the next request is served', async () => {
    const body = JSON.stringify({ name: 'a', description: 'x'.repeat(10 * 1024 * 1024) });
    const answer = await app.call('POST', '/v1/tools', { body });
    expect(answer.status).toBe(413);
    expect(pick(answer.body, 'error', 'code')).toBe('PAYLOAD_TOO_LARGE');
    expect((await app.call('GET', '/v1/tools')).status).toBe(200);
  });

  test.each([
    '/v1/nothing',
    '/nothing',
    '/v1/tools/%00',
    '/v1/tools/%ff',
    `/v1/tools/${'x'.repeat(3000)}`,
    '/v1/tools/a%2Fb',
  ])('%s is 404', async (path) => {
    const answer = await app.call('GET', path);
    expect(answer.status).toBe(404);
    expect(pick(answer.body, 'error', 'code')).toBe('NOT_FOUND');
    for (const name of LIMIT_HEADERS) expect(answer.headers.get(name)).toMatch(/^\d+$/);
  });

  test('what is not HTTP is answered with 400 in our form', async () => {
    const { port, hostname } = new URL(app.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.end('NONSENSE\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
    expect(String(answer)).toContain('"code":"INVALID_REQUEST"');
  });
});

describe('following a request', () => {
  test('every answer has a request id; a plain one of the client is kept', async () => {
    const own = await app.call('GET', '/v1/tools');
    expect(own.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
    const given = await app.call('GET', '/v1/tools', { headers: { 'x-request-id': 'trace-12345' } });
    expect(given.headers.get('x-request-id')).toBe('trace-12345');
    const odd = await app.call('GET', '/v1/tools', { headers: { 'x-request-id': 'a"; drop' } });
    expect(odd.headers.get('x-request-id')).toMatch(/^req_/);
  });
});

describe('pages beside the API', () => {
  test.each(['/healthz', '/readyz', '/metrics', '/openapi.json'])(
    '%s needs no key and is not counted',
    async (path) => {
      const before = pick((await app.call('GET', '/v1/auth/usage')).body, 'usage', 'today');
      const answer = await callApi(app.url, { method: 'GET', path });
      expect(answer.status).toBe(200);
      const after = pick((await app.call('GET', '/v1/auth/usage')).body, 'usage', 'today');
      expect(Number(after)).toBe(Number(before) + 1);
    },
  );

  test('metrics tell requests by route', async () => {
    await app.call('GET', '/v1/tools/absent');
    await expect
      .poll(async () => (await callApi(app.url, { method: 'GET', path: '/metrics' })).body)
      .toMatch(
        /tessera_http_request_duration_seconds_count\{method="GET",route="\/v1\/tools\/\{name\}",status="404"\} /,
      );
  });
});
