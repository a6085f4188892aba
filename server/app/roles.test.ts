import { randomBytes } from 'node:crypto';
import { afterEach, expect, inject, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { startScriptedVendor } from '../testing/scripted-vendor.ts';
import { ADMIN_KEY, callApi, startTestApp } from '../testing/start-test-app.ts';
import { cleanUpProcesses, startProcess } from '../testing/start-process.ts';
import { createTestDatabase, withDatabaseName } from '../testing/test-database.ts';

afterEach(cleanUpProcesses);

const LIMIT_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

async function metricsOf(url: string): Promise<string> {
  return String((await callApi(url, { method: 'GET', path: '/metrics' })).body);
}

test('an api process writes events, a worker process hands them over', async () => {
  const database = await createTestDatabase();
  const vendor = await startScriptedVendor();
  const shared = { DATABASE_URL: database.url, AI_DEFAULT_BASE_URL: vendor.baseUrl, AI_DEFAULT_API_KEY: 'vendor-key' };
  const api = await startTestApp({ ...shared, ROLE: 'api' });
  await api.call('POST', '/v1/ai/chat', { body: { message: 'Hello', conversationId: 'c' } });
  const waiting = 'select type from outbox_events where dispatched_at is null';
  expect(await queryRows(database.url, waiting)).toEqual([{ type: 'ai.conversation' }]);

  const worker = await startTestApp({ ...shared, ROLE: 'worker' });
  await expect.poll(() => queryRows(database.url, waiting)).toEqual([]);
  await api.call('POST', '/v1/ai/chat', { body: { message: 'Hello', conversationId: 'c' } });
  await expect.poll(() => metricsOf(worker.url)).toContain('tessera_events_total{type="ai.conversation"} 2');
  expect(await metricsOf(api.url)).not.toContain('tessera_events_total{');
  await Promise.all([api.stop(), worker.stop(), vendor.close()]);
  await database.drop();
});

test('a worker serves its health pages and nothing of the API', async () => {
  const worker = await startTestApp({ ROLE: 'worker' });
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await callApi(worker.url, { method: 'GET', path })).status).toBe(200);
  }
  const unknown = await worker.call('GET', '/v1/tools');
  expect(unknown).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
  const anonymous = await callApi(worker.url, { method: 'GET', path: '/v1/tools' });
  expect(anonymous).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
  for (const name of LIMIT_HEADERS) expect(anonymous.headers.get(name)).toMatch(/^\d+$/);
  await worker.stop();
});

test('replicas that start together on an empty database agree', async () => {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const admin = inject('testClusterUrl');
  await queryRows(admin, `create database ${name}`);
  const url = withDatabaseName(admin, name);
  const env = { DATABASE_URL: url };
  const roles = ['all', 'api', 'api', 'worker'];
  const services = await Promise.all(roles.map((ROLE) => startProcess({ env: { ...env, ROLE } })));
  const keys = services.flatMap((service) => [...service.stdout().matchAll(/API key {2}(\S+)/g)].map(([, key]) => key));
  expect(keys).toHaveLength(1);
  expect(await queryRows(url, 'select count(*)::int from developers')).toEqual([{ count: 1 }]);
  // Ready for jobs, whichever of them began.
  expect(await queryRows(url, 'select count(*)::int from graphile_worker.jobs')).toEqual([{ count: 0 }]);
  const statuses = services.map(async (service) => {
    const answer = await callApi(service.url, { method: 'GET', path: '/v1/tools', key: keys[0] ?? '' });
    return answer.status;
  });
  expect(await Promise.all(statuses)).toEqual([200, 200, 200, 404]);
  const endings = await Promise.all(services.map((service) => service.stop()));
  expect(endings.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(services.flatMap((service) => [service.stderr(), ...service.warnings()]).join('')).toBe('');
  await queryRows(admin, `drop database ${name} with (force)`);
});

test('an api process alone makes what its jobs need', async () => {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const admin = inject('testClusterUrl');
  await queryRows(admin, `create database ${name}`);
  const api = await startTestApp({
    DATABASE_URL: withDatabaseName(admin, name),
    ROLE: 'api',
    BOOTSTRAP_API_KEY: ADMIN_KEY,
  });
  const jobs = await queryRows(api.databaseUrl, 'select count(*)::int from graphile_worker.jobs');
  expect(jobs).toEqual([{ count: 0 }]);
  await api.stop();
  await queryRows(admin, `drop database ${name} with (force)`);
});
