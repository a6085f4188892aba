import { createServer } from 'node:net';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { startScriptedVendor } from '../testing/scripted-vendor.ts';
import { ADMIN_KEY, callApi } from '../testing/start-test-app.ts';
import { createTestDatabase } from '../testing/test-database.ts';
import { makeDataDir, postgresPid } from '../testing/data-dirs.ts';
import { cleanUpProcesses, spawnProcess, startProcess, type ProcessOptions } from '../testing/start-process.ts';
import { readAllSettings } from './settings.ts';

afterEach(cleanUpProcesses);

/** How a start that cannot succeed ends, and how long it takes. */
async function failedStart(options: ProcessOptions) {
  const began = performance.now();
  const service = await spawnProcess(options);
  const { code } = await service.exited;
  return { service, code, stderr: service.stderr(), seconds: (performance.now() - began) / 1000 };
}

async function takePort(): Promise<{ port: string; free: () => void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return { port: String(address.port), free: () => server.close() };
}

describe('a start that cannot succeed says why in one line', () => {
  test('a second service on the same folder', async () => {
    const first = await startProcess();
    const { code, stderr } = await failedStart({ dataDir: first.dataDir });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `Tessera cannot start: The data folder ${first.dataDir} is in use by another Tessera process (pid ${first.pid}).\n`,
    );
    expect((await callApi(first.url, { method: 'GET', path: '/readyz' })).status).toBe(200);
  });

  test('a port that is in use; no database is left running', async () => {
    const { port, free } = await takePort();
    const { service, code, stderr } = await failedStart({ env: { PORT: port, BOOTSTRAP_API_KEY: ADMIN_KEY } });
    free();
    expect(code).toBe(1);
    expect(stderr).toBe(
      `Tessera cannot start: cannot listen on HOST 127.0.0.1, PORT ${port}: another program uses that port.\n`,
    );
    expect(service.stdout()).toBe('');
    expect(await postgresPid(service.dataDir)).toBeUndefined();
  });

  test.each([
    ['192.0.2.1', 'this machine has no such address'],
    ['no.such.host.invalid', 'no.such.host.invalid'],
  ])('a HOST that is not of this machine, %s', async (host, reason) => {
    const database = await createTestDatabase();
    const env = { HOST: host, ALLOW_INSECURE_HTTP: '1', DATABASE_URL: database.url, BOOTSTRAP_API_KEY: ADMIN_KEY };
    const { code, stderr } = await failedStart({ env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Tessera cannot start: cannot listen on HOST \S+, PORT 0: .*\n$/);
    expect(stderr).toContain(reason);
    await database.drop();
  });

  test.each([
    ['refuses', '127.0.0.1', /ECONNREFUSED/],
    ['has no address', 'no.such.host.invalid', /ENOTFOUND|EAI_AGAIN/],
  ])('a database whose host %s, without its password', async (_name, host, reason) => {
    const { port, free } = await takePort();
    free();
    const env = { DATABASE_URL: `postgres://me:hunter2-secret@${host}:${port}/mine` };
    const { code, stderr, service, seconds } = await failedStart({ env });
    expect(code).toBe(1);
    expect(seconds).toBeLessThan(15);
    expect(stderr).toContain(`Tessera cannot start: the database of DATABASE_URL, ${host}:${port}/mine, cannot be`);
    expect(stderr).toMatch(reason);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr + service.stdout()).not.toContain('hunter2');
  });

  test('a database that takes the connection and says nothing', async () => {
    const { port, free } = await takePort();
    const env = { DATABASE_URL: `postgres://me:hunter2-secret@127.0.0.1:${port}/mine` };
    const { code, stderr, seconds } = await failedStart({ env });
    free();
    expect(code).toBe(1);
    expect(seconds).toBeLessThan(15);
    expect(stderr).toMatch(/^Tessera cannot start: the database of DATABASE_URL, \S+, cannot be reached: .*\n$/);
    expect(stderr).not.toContain('hunter2');
  });

  test('a database that a newer program has changed', async () => {
    const database = await createTestDatabase();
    await queryRows(
      database.url,
      `insert into schema_migrations (version, name, sha256) values (9999, '9999-of-the-future', '')`,
    );
    const { code, stderr } = await failedStart({ env: { DATABASE_URL: database.url } });
    await database.drop();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Tessera cannot start: The database has schema version 9999-of-the-future, but .*newer.*\n$/,
    );
  });
});

describe('mistakes in settings', () => {
  test('are told all at once, without a secret, and end the start with 2', async () => {
    const env = {
      PORT: '70000',
      ROLE: 'boss',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://me:hunter2-secret@db/mine',
      REDIS_URL: 'http://me:hunter2-secret@cache',
      BOOTSTRAP_API_KEY: 'hunter2-secret',
      BOOTSTRAP_TIER: 'gold',
      AI_MODELS: 'a,a',
      TLS_CERT_FILE: '/no/such/file',
      TRUST_PROXY: 'the proxy',
      OUTBOUND_ALLOW: '10.0.0.0/99',
    };
    const { code, stderr, service } = await failedStart({ env });
    expect(code).toBe(2);
    const lines = stderr.trim().split('\n');
    expect(lines[0]).toBe('Settings that cannot be used:');
    for (const name of Object.keys(env)) expect(lines.filter((line) => line.startsWith(`  ${name}`))).toHaveLength(1);
    expect(stderr + service.stdout()).not.toContain('hunter2');
  });

  test.each([
    ['no PEM', 'nonsense', 'nonsense'],
    ['no files', undefined, undefined],
  ])('tell of TLS files that are %s', async (_name, cert, key) => {
    const folder = await makeDataDir();
    const files = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
    if (cert !== undefined) await writeFile(files.TLS_CERT_FILE, cert);
    if (key !== undefined) await writeFile(files.TLS_KEY_FILE, key);
    expect(() => readAllSettings(files)).toThrow(/TLS_CERT_FILE cannot be used: .*\n {2}TLS_KEY_FILE cannot be used: /);
  });
});

test('no secret is ever logged, not even at level trace', async () => {
  const vendor = await startScriptedVendor({ script: [{ status: 401, message: 'bad key' }, { text: 'Hello.' }] });
  const first = await startProcess({ env: { BOOTSTRAP_API_KEY: ADMIN_KEY } });
  await first.stop();
  const database = await createTestDatabase();
  const url = new URL(database.url);
  url.password = 'hunter2-database';
  const env = {
    DATABASE_URL: url.href,
    BOOTSTRAP_API_KEY: ADMIN_KEY,
    AI_DEFAULT_BASE_URL: vendor.baseUrl,
    AI_DEFAULT_API_KEY: 'hunter2-vendor',
    LOG_LEVEL: 'trace',
  };
  const service = await startProcess({ env });
  const call = (method: string, path: string, body?: unknown) =>
    callApi(service.url, { method, path, key: ADMIN_KEY, ...(body === undefined ? {} : { body }) });
  await call('POST', '/v1/ai/chat', { message: 'Hello' });
  await call('POST', '/v1/ai/chat', { message: 'Hello' });
  await call('POST', '/v1/tools', { name: 'x' });
  await callApi(service.url, {
    method: 'GET',
    path: '/v1/tools',
    headers: { authorization: 'Bearer hunter2-foreign' },
  });
  await database.breakConnections();
  await expect.poll(async () => (await call('GET', '/v1/tools')).status).toBe(200);
  expect((await service.stop()).code).toBe(0);
  const said = service.stdout() + service.stderr();
  expect(said).toContain('"level":');
  for (const secret of ['hunter2', ADMIN_KEY]) expect(said).not.toContain(secret);
  await database.drop();
  await vendor.close();
});
