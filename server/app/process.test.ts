import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { startScriptedVendor } from '../testing/scripted-vendor.ts';
import { callApi, pick, pickText } from '../testing/start-test-app.ts';
import { makeDataDir } from '../testing/data-dirs.ts';
import { cleanUpProcesses, spawnProcess, startProcess, type ServiceProcess } from '../testing/start-process.ts';

afterEach(cleanUpProcesses);

const KEY = /API key {2}(\S+)/;
const FIRST = 'the-first-key-0123456789-0123456789';
const SECOND = 'a-second-key-0123456789-0123456789';

function printedKey(service: ServiceProcess): string {
  return KEY.exec(service.stdout())?.[1] ?? '';
}

/** The commands of the welcome text, each as one script. */
function printedCommands(service: ServiceProcess): string[] {
  return [...service.stdout().matchAll(/^ {4}curl[^]*?'$/gm)].map(([command]) => command);
}

async function runInBash(command: string, env: Record<string, string> = {}): Promise<unknown> {
  const child = spawn('bash', ['-c', command], { env: { PATH: process.env['PATH'], ...env } });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
  await once(child, 'close');
  return JSON.parse(output);
}

async function statusOf(service: ServiceProcess, key: string): Promise<number> {
  return (await callApi(service.url, { method: 'GET', path: '/v1/auth/usage', key })).status;
}

test('the first start prints a key, once, and commands that work as they are', async () => {
  const vendor = await startScriptedVendor();
  const dataDir = await makeDataDir();
  const env = { AI_DEFAULT_BASE_URL: vendor.baseUrl, AI_DEFAULT_API_KEY: 'vendor-key' };
  const first = await startProcess({ dataDir, env });
  const key = printedKey(first);
  expect(key).toMatch(/^tsk_[0-9A-Za-z]{38}$/);
  const commands = printedCommands(first);
  expect(commands).toHaveLength(2);
  expect(await runInBash(commands[0] ?? '')).toMatchObject({ name: 'server_status' });
  expect(await runInBash(commands[1] ?? '')).toMatchObject({ response: 'Hello from the scripted vendor.' });
  expect(JSON.stringify(vendor.requests[0]?.body['tools'])).toContain('server_status');
  expect(await first.stop()).toEqual({ code: 0, signal: null });

  const second = await startProcess({ dataDir, env });
  expect(second.stdout()).not.toMatch(KEY);
  expect(second.stdout()).not.toContain(key);
  const chat = printedCommands(second)[1] ?? '';
  expect(await runInBash(chat, { TESSERA_KEY: key })).toMatchObject({ response: 'Hello from the scripted vendor.' });
  await vendor.close();
});

test('a key that was made is shown although the start fails afterwards', async () => {
  const taken = await startScriptedVendor();
  const dataDir = await makeDataDir();
  const failed = await spawnProcess({ dataDir, env: { PORT: new URL(taken.baseUrl).port } });
  expect((await failed.exited).code).toBe(1);
  const key = printedKey(failed);
  const service = await startProcess({ dataDir });
  expect(await statusOf(service, key)).toBe(200);
  await taken.close();
});

test('the key and the tier of the first developer can be given; a further key is added, a revoked one stays so', async () => {
  const dataDir = await makeDataDir();
  const first = await startProcess({ dataDir, env: { BOOTSTRAP_API_KEY: FIRST, BOOTSTRAP_TIER: 'basic' } });
  expect(first.stdout()).not.toMatch(KEY);
  expect(first.stdout()).not.toContain(FIRST);
  const usage = await callApi(first.url, { method: 'GET', path: '/v1/auth/usage', key: FIRST });
  expect(pick(usage.body, 'tier')).toBe('basic');
  await first.stop();

  const second = await startProcess({ dataDir, env: { BOOTSTRAP_API_KEY: SECOND, BOOTSTRAP_TIER: 'pro' } });
  expect([await statusOf(second, FIRST), await statusOf(second, SECOND)]).toEqual([200, 200]);
  const { body } = await callApi(second.url, { method: 'GET', path: '/v1/auth/api-keys', key: SECOND });
  const id = pickText(body, 'keys', 0, '_id');
  const revoked = await callApi(second.url, { method: 'DELETE', path: `/v1/auth/api-keys/${id}`, key: SECOND });
  expect(revoked.status).toBe(200);
  const left = (await statusOf(second, FIRST)) === 200 ? FIRST : SECOND;
  const gone = left === FIRST ? SECOND : FIRST;
  await second.stop();

  const third = await startProcess({ dataDir, env: { BOOTSTRAP_API_KEY: gone } });
  expect([await statusOf(third, gone), await statusOf(third, left)]).toEqual([401, 200]);
  expect(third.warnings().join('\n')).toContain('BOOTSTRAP_API_KEY names a key that was revoked');
});
