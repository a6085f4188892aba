import { execFile } from 'node:child_process';
import { get } from 'node:https';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { ADMIN_KEY, callApi, pick, startTestApp } from '../testing/start-test-app.ts';
import { makeDataDir } from '../testing/data-dirs.ts';
import { cleanUpProcesses, startProcess } from '../testing/start-process.ts';
import { createTestDatabase } from '../testing/test-database.ts';
import { readAllSettings } from './settings.ts';

afterEach(cleanUpProcesses);

interface Pair {
  TLS_CERT_FILE: string;
  TLS_KEY_FILE: string;
}

/** A certificate for 127.0.0.1 that vouches for itself. */
async function makeCertificate(): Promise<Pair> {
  const folder = await makeDataDir();
  const pair = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', pair.TLS_KEY_FILE, '-out', pair.TLS_CERT_FILE];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  await promisify(execFile)('openssl', ['req', '-x509', ...kind, ...subject, ...files]);
  return pair;
}

describe('HTTPS', () => {
  test('is served with the given certificate, and stops cleanly', async () => {
    const database = await createTestDatabase();
    const pair = await makeCertificate();
    const service = await startProcess({ env: { DATABASE_URL: database.url, BOOTSTRAP_API_KEY: ADMIN_KEY, ...pair } });
    expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const ca = await readFile(pair.TLS_CERT_FILE);
    const request = get(`${service.url}/v1/tools`, { ca, headers: { 'x-api-key': ADMIN_KEY } });
    const [response]: IncomingMessage[] = await once(request, 'response');
    expect(response?.statusCode).toBe(200);
    response?.resume();
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect([service.stderr(), ...service.warnings()]).toEqual(['']);
    await database.drop();
  });

  test('a key that belongs to another certificate is a mistake in the settings', async () => {
    const [{ TLS_CERT_FILE }, { TLS_KEY_FILE }] = [await makeCertificate(), await makeCertificate()];
    expect(() => readAllSettings({ TLS_CERT_FILE, TLS_KEY_FILE })).toThrow('TLS_KEY_FILE is not the private key');
    expect(() => readAllSettings({ TLS_CERT_FILE })).toThrow('TLS_CERT_FILE and TLS_KEY_FILE are needed together');
  });
});

describe('an address that others can reach', () => {
  test.each(['0.0.0.0', '::', '192.168.1.5', 'example.com'])('%s is refused without protection', (HOST) => {
    expect(() => readAllSettings({ HOST })).toThrow(`HOST is ${HOST}, where API keys would travel unencrypted`);
  });

  test.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('%s needs none', (HOST) => {
    expect(readAllSettings({ HOST }).transport.requiresHttps).toBe(false);
  });

  test('is served in the clear when that is asked for', async () => {
    const app = await startTestApp({ HOST: '0.0.0.0', ALLOW_INSECURE_HTTP: '1' });
    expect((await app.call('GET', '/v1/tools')).status).toBe(200);
    await app.stop();
  });
});

describe('addresses of this machine', () => {
  test.each([
    ['::1', 'http://[::1]:'],
    ['localhost', 'http://localhost:'],
  ])('are served on, HOST=%s', async (HOST, start) => {
    const app = await startTestApp({ HOST });
    expect(app.url.startsWith(start)).toBe(true);
    expect((await app.call('GET', '/v1/tools')).status).toBe(200);
    await app.stop();
    await expect(app.call('GET', '/v1/tools')).rejects.toThrow('fetch failed');
  });
});

describe('behind a proxy', () => {
  test.each(['1', '127.0.0.0/8', '10.0.0.1, 127.0.0.1'])(
    'only what came by HTTPS is served, TRUST_PROXY=%s',
    async (proxies) => {
      const app = await startTestApp({ TRUST_PROXY: proxies, ANONYMOUS_PER_MINUTE: '2' });
      const call = (path: string, headers: Record<string, string>, key?: string) =>
        callApi(app.url, { method: 'GET', path, headers, key });
      expect(await call('/v1/tools', {}, ADMIN_KEY)).toMatchObject({
        status: 403,
        body: { error: { code: 'FORBIDDEN', message: 'Requests must use HTTPS.' } },
      });
      expect((await call('/v1/tools', { 'x-forwarded-proto': 'http' }, ADMIN_KEY)).status).toBe(403);
      const https = { 'x-forwarded-proto': 'https' };
      expect((await call('/v1/tools', https, ADMIN_KEY)).status).toBe(200);
      for (const path of ['/healthz', '/readyz', '/metrics']) expect((await call(path, {})).status).toBe(200);

      const from = (address: string) => call('/v1/tools', { ...https, 'x-forwarded-for': address });
      const statuses = [];
      for (const address of ['203.0.113.1', '203.0.113.1', '203.0.113.1', '203.0.113.2']) {
        statuses.push((await from(address)).status);
      }
      expect(statuses).toEqual([401, 401, 429, 401]);
      await app.stop();
    },
  );

  test('headers of a stranger count for nothing', async () => {
    const app = await startTestApp({ TRUST_PROXY: '203.0.113.7' });
    const headers = { 'x-forwarded-proto': 'https' };
    const answer = await callApi(app.url, { method: 'GET', path: '/v1/tools', headers, key: ADMIN_KEY });
    expect(answer.status).toBe(403);
    expect(pick(answer.body, 'error', 'code')).toBe('FORBIDDEN');
    await app.stop();
  });
});
