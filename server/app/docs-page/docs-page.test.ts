import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServer, type Allowance, type HttpServer } from '../../platform/http/index.ts';
import { launchBrowser } from '../../testing/browser.ts';
import { addOpenApiRoute } from '../openapi/index.ts';
import { readContracts } from '../reference/read-contracts.ts';
import { addDocsPage } from './docs-page.ts';

const ALLOWANCE: Allowance = { isAllowed: true, limit: 10, remaining: 10, resetAtSeconds: 0 };

let app: HttpServer;
let origin: string;

beforeAll(async () => {
  app = buildServer({
    routes: [],
    gate: { identify: () => undefined, spend: () => ALLOWANCE, spendAnonymous: () => ALLOWANCE },
    transport: { tls: undefined, trustProxy: false, requiresHttps: false },
    log: pino({ level: 'silent' }),
    recordCall: () => undefined,
    observe: () => undefined,
  });
  addOpenApiRoute(app, await readContracts());
  addDocsPage(app);
  origin = await app.listen({ port: 0, host: '127.0.0.1' });
});

afterAll(() => app.close());

describe('the reference page over HTTP', () => {
  it.each(['/docs', '/docs/'])('answers %s with a policy that allows this origin alone', async (path) => {
    const answer = await app.inject(path);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|unsafe-eval|\*/);
  });

  it('serves the script gzipped to those who take it, else plain', async () => {
    const [zipped, plain] = await Promise.all([
      app.inject({ url: '/docs/scalar.js', headers: { 'accept-encoding': 'br, gzip' } }),
      app.inject({ url: '/docs/scalar.js', headers: { 'accept-encoding': 'gzip;q=0' } }),
    ]);
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(gunzipSync(zipped.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect(plain.body).toContain('createApiReference');
  });

  it('serves the document that the page reads', async () => {
    const answer = await app.inject('/openapi.json');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json()).toMatchObject({ openapi: '3.1.0', info: { title: 'Tessera API' } });
  });
});

describe('the reference page in a browser', () => {
  let browser: Browser;
  let page: Page;
  const requests: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on('request', (request) => requests.push(request.url()));
    page.on('websocket', (socket) => requests.push(socket.url()));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${origin}/docs`);
  });

  afterAll(() => browser.close());

  it('shows the operations', async () => {
    await page.getByRole('heading', { name: 'Tessera API' }).waitFor();
    await page.getByText('Create an API key').first().waitFor();
    expect(await page.title()).toContain('Tessera API');
  });

  it('shows the operation that its address names', async () => {
    await page.goto(`${origin}/docs#tag/ai/POST/v1/ai/chat/stream`);
    await page.reload();
    await page.getByText('The API key needs read permission').first().waitFor();
    await expect.poll(() => page.getByRole('heading', { name: 'the answer comes in fragments' }).count()).toBe(1);
  });

  it('sends a request of the reader to this service', async () => {
    await page.getByRole('button', { name: 'Test Request (post /v1/ai/chat/stream)' }).click();
    const [answer] = await Promise.all([
      page.waitForResponse(`${origin}/v1/ai/chat/stream`),
      page.getByRole('button', { name: /^Send/ }).first().click(),
    ]);
    // This server has the pages alone.
    expect(answer.status()).toBe(401);
    await expect.poll(() => complaints).toHaveLength(1);
    expect(complaints.pop()).toContain('401');
  });

  it('asks no other address, and tries nothing that its policy forbids', async () => {
    await page.waitForLoadState('networkidle');
    const outside = requests.filter((url) => !url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url));
    expect(requests).toContain(`${origin}/openapi.json`);
    expect(outside).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
