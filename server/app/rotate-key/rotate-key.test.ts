import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMasterKey, keyFileOf, readKeyFile } from '../../platform/crypto/index.ts';
import { databaseText } from '../../testing/database-text.ts';
import { makeDataDir, removeDataDirs } from '../../testing/data-dirs.ts';
import { startDemandingService, type DemandingService } from '../../testing/demanding-service.ts';
import { queryRows } from '../../testing/query-rows.ts';
import { cleanUpProcesses, startProcess } from '../../testing/start-process.ts';
import { callApi, pickText, startTestApp, type TestApp } from '../../testing/start-test-app.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import { SEALED_TABLES } from './rotate-key.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const COMMAND = join(import.meta.dirname, 'main.ts');
const OWN = 'own-token-123456';
const GIVEN = 'given-token-654321';
const WEBHOOKS = 30;

let service: DemandingService;
let database: TestDatabase;
let dataDir: string;
let apps: TestApp[] = [];
let commands: ChildProcess[] = [];

beforeAll(async () => {
  service = await startDemandingService([OWN, GIVEN]);
});
afterAll(() => service.close());
beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await makeDataDir();
});
afterEach(async () => {
  for (const command of commands) command.kill('SIGKILL');
  for (const app of apps) await app.stop();
  [apps, commands] = [[], []];
  await database.drop();
  await cleanUpProcesses();
  await removeDataDirs();
});

async function startApp(encryptionKey = ''): Promise<TestApp> {
  const app = await startTestApp({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    ENCRYPTION_KEY: encryptionKey,
    ROLE: 'api',
  });
  apps.push(app);
  return app;
}

function spawnCommand(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [COMMAND], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, DATABASE_URL: database.url, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  commands.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, output }));
  return { child, ended };
}

/** Everything that is sealed, at every kind of place, by the first developer. */
async function sealSomething({ call }: TestApp): Promise<void> {
  await call('POST', '/v1/apps', {
    body: {
      app: { id: 'crm', name: 'Customers' },
      serviceConfig: {
        baseUrl: service.baseUrl,
        headers: { Authorization: `Bearer ${OWN}`, 'X-Other': '{{credentials.other}}' },
      },
    },
  });
  await call('POST', '/v1/apps', {
    body: {
      app: { id: 'shared', name: 'Shared' },
      serviceConfig: { baseUrl: service.baseUrl, headers: { Authorization: 'Bearer {{credentials.token}}' } },
    },
  });
  for (const appId of ['crm', 'shared']) {
    const execution = { type: 'http', method: 'GET', url: '/count' };
    await call('POST', '/v1/tools', { body: { name: `${appId}_count`, description: 'x', appId, execution } });
    const published = await call('POST', `/v1/apps/${appId}/publish`);
    expect(published.status).toBe(200);
    const id = pickText((await call('GET', `/v1/apps/${appId}`)).body, '_id');
    const installed = await call('POST', `/v1/marketplace/apps/${id}/install`);
    const credentials = appId === 'crm' ? { other: 'other-credential' } : { token: GIVEN };
    const path = `/v1/installations/${pickText(installed.body, '_id')}/configure`;
    expect((await call('POST', path, { body: { credentials } })).status).toBe(200);
  }
  for (let index = 0; index < WEBHOOKS; index++) {
    const hook = { event: 'tool.executed', url: 'https://example.com/hook', secret: `secret-number-${index}` };
    const created = await call('POST', '/v1/events/webhooks', { body: hook });
    if (index > 0) continue;
    const path = `/v1/events/webhooks/${pickText(created.body, '_id')}`;
    expect((await call('PATCH', path, { body: { secret: 'another-secret' } })).status).toBe(200);
  }
}

/** Calls that open what was sealed: of the definition, of a version, of an installation, of webhooks. */
async function expectReadable({ call }: TestApp): Promise<void> {
  for (const tool of ['crm_count', 'shared_count']) {
    const called = await call('POST', '/v1/ai/tool-call', { body: { tool, input: {} } });
    expect(called).toMatchObject({ status: 200, body: { result: { value: 29 } } });
  }
  const { id } = (await queryRows(database.url, 'select id from webhook_subscriptions order by id limit 1'))[0] ?? {};
  const path = `/v1/events/webhooks/${String(id)}`;
  // Compares with what is sealed, and changes nothing.
  expect((await call('PATCH', path, { body: { secret: 'another-secret' } })).status).toBe(200);
}

async function keyIdsInUse(): Promise<Set<string>> {
  const text = await databaseText(database.url);
  return new Set([...text.matchAll(/v1\.([0-9a-f]{8})\.[\w-]{38,}/g)].map(([, id]) => id ?? ''));
}

function keyIdsOfFile(): string[] {
  return readKeyFile(keyFileOf(dataDir)).map(({ id }) => id);
}

/** Holds the last of the rows that the command comes to, until it is told to let go. */
async function holdLastRow(): Promise<{ release: () => Promise<void> }> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  await client.query(`select from webhook_subscriptions
    where id = (select max(id) from webhook_subscriptions) for update`);
  return { release: () => client.end() };
}

async function waitsForRow(): Promise<boolean> {
  const sql = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%webhook_subscriptions%'`;
  return (await queryRows(database.url, sql)).length > 0;
}

test('killed in the middle, both keys are readable; run again, the one before is gone', async () => {
  const running = await startApp();
  await sealSomething(running);
  const [before = ''] = keyIdsOfFile();
  const row = await holdLastRow();
  const { child, ended } = spawnCommand();
  await expect.poll(waitsForRow, { timeout: 20_000 }).toBe(true);
  child.kill('SIGKILL');
  await ended;
  await row.release();

  const [after = '', ...others] = keyIdsOfFile();
  expect(others).toEqual([before]);
  expect(await keyIdsInUse()).toEqual(new Set([before, after]));
  const fresh = await startApp();
  for (const app of [running, fresh]) await expectReadable(app);
  const secret = 'sealed by a service that began before';
  await running.call('POST', '/v1/events/webhooks', {
    body: { event: 'tool.failed', url: 'https://example.com/', secret },
  });
  const newest = 'select secret from webhook_subscriptions order by id desc limit 1';
  expect(String((await queryRows(database.url, newest))[0]?.['secret'])).toContain(`v1.${after}.`);

  const again = await spawnCommand().ended;
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining(`under the key ${after}`) });
  expect(keyIdsOfFile()).toEqual([after]);
  expect(await keyIdsInUse()).toEqual(new Set([after]));
  for (const app of [running, fresh, await startApp()]) await expectReadable(app);
  expect(await databaseText(database.url)).not.toContain(secret);
});

test('what is sealed while the command runs is not left behind', async () => {
  const [one, two] = [await startApp(), await startApp()];
  await sealSomething(one);
  const command = spawnCommand();
  const over = new AbortController();
  const ended = command.ended.finally(() => over.abort());
  const write = async ({ call }: TestApp, index: number): Promise<number> => {
    let written = 0;
    for (; !over.signal.aborted; written++) {
      const secret = `written-meanwhile-${index}-${written}`;
      const hook = { event: 'tool.failed', url: 'https://example.com/', secret };
      const id = pickText((await call('POST', '/v1/events/webhooks', { body: hook })).body, '_id');
      await call('PATCH', `/v1/events/webhooks/${id}`, { body: { secret: `${secret}-again` } });
      await call('DELETE', `/v1/events/webhooks/${id}`);
      const headers = { Authorization: `Bearer ${OWN}`, 'X-Other': secret };
      await call('PUT', '/v1/apps/crm', { body: { serviceConfig: { baseUrl: service.baseUrl, headers } } });
    }
    return written;
  };
  const written = await Promise.all([one, two, one, two].map(write));
  expect(await ended).toMatchObject({ code: 0 });
  expect(Math.min(...written)).toBeGreaterThan(0);
  expect(await keyIdsInUse()).toEqual(new Set(keyIdsOfFile()));
  for (const app of [one, two]) await expectReadable(app);
});

test('with ENCRYPTION_KEY the first key seals, and the command leaves nothing under the second', async () => {
  const [before, after] = [createMasterKey(), createMasterKey()];
  const both = [after, before].map(({ bytes }) => bytes.toString('base64')).join(',');
  await sealSomething(await startApp(before.bytes.toString('base64')));
  await expectReadable(await startApp(both));
  expect(await keyIdsInUse()).toEqual(new Set([before.id]));
  const { code, output } = await spawnCommand({ ENCRYPTION_KEY: both }).ended;
  expect(output).toContain('Take the others out of ENCRYPTION_KEY');
  expect(code).toBe(0);
  expect(await keyIdsInUse()).toEqual(new Set([after.id]));
  await expectReadable(await startApp(after.bytes.toString('base64')));
  const nothing = await spawnCommand({ ENCRYPTION_KEY: both }).ended;
  expect(nothing.output).toContain('0 rows were sealed anew');
});

test('what cannot be opened is named, and the key before is kept', async () => {
  await sealSomething(await startApp());
  const [before = ''] = keyIdsOfFile();
  await queryRows(
    database.url,
    `update webhook_subscriptions set secret = overlay(secret placing 'AAAA' from 30)
     where id = (select max(id) from webhook_subscriptions)`,
  );
  const { code, output } = await spawnCommand().ended;
  expect(code).toBe(1);
  expect(output).toContain('1 rows could not be');
  expect(output).toMatch(/webhook_subscriptions dev_\w+ hook_\w+: A sealed text was changed/);
  expect(keyIdsOfFile()).toHaveLength(2);
  expect(keyIdsOfFile()).toContain(before);
  expect(output).not.toContain('secret-number');
});

test('a folder without a key file is refused, and none is made there', async () => {
  const { code, output } = await spawnCommand().ended;
  expect(output).toBe(
    `The key was not rotated: there is no key file ${keyFileOf(dataDir)}: is DATA_DIR the folder of the service?\n`,
  );
  expect(code).toBe(1);
  await expect(readFile(keyFileOf(dataDir))).rejects.toThrow('ENOENT');
});

test('beside a service on the embedded database', async () => {
  const key = 'a-first-key-for-the-rotation-test-0001';
  const embedded = await startProcess({ env: { BOOTSTRAP_API_KEY: key }, dataDir });
  const create = () =>
    callApi(embedded.url, {
      method: 'POST',
      path: '/v1/events/webhooks',
      key,
      body: { event: 'tool.failed', url: 'https://example.com/', secret: 'a secret of a webhook' },
    });
  expect((await create()).status).toBe(201);
  const [before] = keyIdsOfFile();
  const rotated = await spawnCommand({ DATABASE_URL: '' }).ended;
  expect(rotated).toMatchObject({ code: 0, output: expect.stringContaining('1 rows were sealed anew') });
  expect(keyIdsOfFile()).toHaveLength(1);
  expect(keyIdsOfFile()).not.toContain(before);
  expect((await create()).status).toBe(201);
  expect((await embedded.stop()).code).toBe(0);
  // Nobody runs on it now: the command starts it, and stops it again.
  const alone = await spawnCommand({ DATABASE_URL: '' }).ended;
  expect(alone).toMatchObject({ code: 0, output: expect.stringContaining('2 rows were sealed anew') });
});

test('every purpose that modules seal for is covered', async () => {
  const covered = new Set(SEALED_TABLES.flatMap(({ purposes }) => purposes));
  const sealed = new Set<string>();
  for await (const file of glob('server/**/*.ts', { cwd: ROOT })) {
    if (file.endsWith('.test.ts') || file.includes('sealed-tables')) continue;
    const source = await readFile(join(ROOT, file), 'utf8');
    for (const [, purpose = ''] of source.matchAll(/\bpurpose: '([\w-]+)'/g)) sealed.add(purpose);
  }
  expect(sealed).toEqual(covered);
  expect(sealed.size).toBeGreaterThan(0);
});
