import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { pick, startTestApp, type TestApp } from '../testing/start-test-app.ts';

const ROWS = [
  { day: '2026-01-30', orders: 12, returns: 1 },
  { day: '2026-01-31', orders: 17, returns: 0 },
];

/** By the path of a tool. */
const ANSWERS: Record<string, (response: ServerResponse) => void> = {
  rows: (response) => response.end(JSON.stringify(ROWS)),
  number: (response) => response.end(JSON.stringify({ total: 29, unit: 'orders', change: -0.5 })),
  failing: (response) => response.writeHead(503).end('down'),
  words: (response) => response.end(JSON.stringify({ data: ['a', 'b'] })),
  nothing: (response) => response.end('null'),
  hangs: () => undefined,
  together: (response) => {
    waiting.push(response);
    // Those who were asked one after the other would wait for ever.
    if (waiting.length === 2) for (const one of waiting) one.end('1');
  },
  together2: (response) => ANSWERS['together']?.(response),
};

let app: TestApp;
let server: Server;
let baseUrl: string;
let developer: { id: string; key: string };
let waiting: ServerResponse[] = [];
let asked: string[] = [];

beforeAll(async () => {
  app = await startTestApp();
  server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1).split('?')[0] ?? '';
    asked.push(request.url ?? '');
    response.setHeader('content-type', 'application/json');
    ANSWERS[path]?.(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  baseUrl = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '';
});
afterAll(async () => {
  await app.stop();
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  developer = await app.createDeveloper();
  [waiting, asked] = [[], []];
});

function call(method: string, path: string, body?: unknown) {
  return app.call(method, path, { key: developer.key, body });
}

/** An app with these widgets; every path of the service is a tool of it. */
async function makeApp(widgets: object[]): Promise<void> {
  await call('POST', '/v1/apps', {
    app: { id: 'shop', name: 'Shop' },
    serviceConfig: { baseUrl },
    dashboard: { widgets },
  });
  for (const name of Object.keys(ANSWERS)) {
    const execution = { type: 'http', method: 'GET', url: `/${name}` };
    await call('POST', '/v1/tools', { name, description: 'x', appId: 'shop', execution });
  }
}

function dashboard() {
  return call('GET', '/v1/apps/shop/dashboard');
}

function stat(source: string, more: object = {}) {
  return { type: 'stat', title: source, source, ...more };
}

test('a stat, and a chart of every type', async () => {
  const charts = ['line', 'bar', 'area', 'pie'].map((chartType) => ({
    type: 'chart',
    title: chartType,
    source: 'rows',
    chartType,
  }));
  await makeApp([stat('number'), ...charts, { type: 'chart', title: 'No type', source: 'rows' }]);
  const { status, body } = await dashboard();
  expect(status).toBe(200);
  const labels = ['2026-01-30', '2026-01-31'];
  const orders = { name: 'orders', values: [12, 17] };
  const both = { labels, series: [orders, { name: 'returns', values: [1, 0] }] };
  const shown = { source: 'rows', status: 'ok', updatedAt: expect.any(String) };
  expect(body).toEqual({
    appId: 'shop',
    name: 'Shop',
    widgets: [
      { ...shown, type: 'stat', title: 'number', source: 'number', data: { value: 29, unit: 'orders', change: -0.5 } },
      { ...shown, type: 'chart', title: 'line', chartType: 'line', data: both },
      { ...shown, type: 'chart', title: 'bar', chartType: 'bar', data: both },
      { ...shown, type: 'chart', title: 'area', chartType: 'area', data: both },
      { ...shown, type: 'chart', title: 'pie', chartType: 'pie', data: { labels, series: [orders] } },
      { ...shown, type: 'chart', title: 'No type', chartType: 'line', data: both },
    ],
  });
});

test('an app without widgets has an empty dashboard', async () => {
  await call('POST', '/v1/apps', { app: { id: 'shop', name: 'Shop' } });
  expect((await dashboard()).body).toEqual({ appId: 'shop', name: 'Shop', widgets: [] });
});

function failed(error: string) {
  return { status: 'error', error: expect.stringContaining(error) };
}

test('what fails says why in its own widget, and leaves the others alone', async () => {
  await makeApp([
    stat('absent'),
    stat('failing'),
    stat('nothing'),
    { type: 'chart', title: 'words', source: 'words' },
    stat('hangs'),
    stat('switched_off'),
    stat('number'),
  ]);
  const execution = { type: 'http', method: 'GET', url: '/number' };
  await call('POST', '/v1/tools', { name: 'switched_off', description: 'x', execution });
  await call('PUT', '/v1/tools/switched_off', { enabled: false });
  const { status, body } = await dashboard();
  expect(status).toBe(200);
  expect(body).toMatchObject({
    widgets: [
      failed('There is no enabled tool named "absent".'),
      failed('HTTP 503'),
      failed('The source gave no value.'),
      failed('The source gave no numbers.'),
      failed('The tool "hangs" took longer than 8 s.'),
      failed('There is no enabled tool named "switched_off".'),
      { status: 'ok', data: { value: 29 } },
    ],
  });
  expect(pick(body, 'widgets', 0)).not.toHaveProperty('data');
});

test('sources are asked at the same time', async () => {
  await makeApp([stat('together'), stat('together2')]);
  expect((await dashboard()).body).toMatchObject({ widgets: [{ status: 'ok' }, { status: 'ok' }] });
});

test('what was given is given again for a while; another input, a change or a failure is asked anew', async () => {
  await makeApp([stat('number'), stat('number', { input: { days: 7 } }), stat('failing')]);
  const first = await dashboard();
  expect(asked.toSorted()).toEqual(['/failing', '/number', '/number?days=7']);
  const [second] = await Promise.all([dashboard(), dashboard()]);
  expect(pick(second.body, 'widgets', 0)).toEqual(pick(first.body, 'widgets', 0));
  expect(asked.filter((path) => path.startsWith('/number'))).toHaveLength(2);
  expect(asked.filter((path) => path === '/failing').length).toBeGreaterThan(1);
  await call('PUT', '/v1/apps/shop', { app: { nameZh: '商店' } });
  await dashboard();
  expect(asked.filter((path) => path.startsWith('/number'))).toHaveLength(4);
});

test('what one developer was given is not given to another', async () => {
  await makeApp([stat('number')]);
  await dashboard();
  developer = await app.createDeveloper();
  await makeApp([stat('number')]);
  await dashboard();
  expect(asked).toHaveLength(2);
});
