import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';
import { startDemandingService, type DemandingService } from '../testing/demanding-service.ts';
import { pick, pickText } from '../testing/start-test-app.ts';
import { queryRows } from '../testing/query-rows.ts';

const PUBLISHERS = 'publisher-token-123456';
const INSTALLERS = 'installer-token-654321';

let it: ChatApp;
let service: DemandingService;
let publisher: { id: string; key: string };
let installer: { id: string; key: string };

beforeAll(async () => {
  it = await startChatApp();
  service = await startDemandingService([PUBLISHERS, INSTALLERS]);
});
afterAll(async () => {
  await it.stop();
  service.close();
});
beforeEach(async () => {
  await it.begin();
  publisher = it.developer();
  installer = await it.app.createDeveloper();
  service.requests.length = 0;
});

function as(developer: { key: string }) {
  return (method: string, path: string, body?: unknown) => it.app.call(method, path, { key: developer.key, body });
}

function eventsOf(developer: { id: string }) {
  const sql = "select type, data from outbox_events where developer_id = $1 and type like 'app.%' order by seq";
  return queryRows(it.app.databaseUrl, sql, [developer.id]);
}

/** A published app whose tools demand `token`; gives its id on the marketplace. */
async function publish(name = 'Customers'): Promise<string> {
  const call = as(publisher);
  await call('POST', '/v1/tools/packs', { id: 'basics', name: 'Basics', tools: ['count'], knowledge: 'Be kind.' });
  const created = await call('POST', '/v1/apps', {
    app: { id: 'crm', name, nameZh: '客户', domain: 'operations' },
    serviceConfig: {
      credentials: ['token'],
      baseUrl: service.baseUrl,
      headers: { 'X-Own': PUBLISHERS, Authorization: 'Bearer {{credentials.token}}' },
    },
    dashboard: {
      widgets: [
        { type: 'chart', title: 'Orders', source: 'orders', chartType: 'line' },
        { type: 'stat', title: 'All', source: 'count' },
        { type: 'stat', title: 'Broken', source: 'absent' },
      ],
    },
    toolPacks: ['basics'],
  });
  const tools = [
    { name: 'orders', appId: 'crm', execution: { type: 'http', method: 'GET', url: '/orders' } },
    {
      name: 'echo',
      appId: 'crm',
      execution: {
        type: 'http',
        url: '/echo',
        headers: { 'X-Api-Key': PUBLISHERS, 'X-Mine': 'is {{credentials.token}}' },
        body: { said: '{text}', password: PUBLISHERS },
      },
    },
    { name: 'count', execution: { type: 'http', method: 'GET', url: 'count' } },
  ];
  for (const tool of tools) await call('POST', '/v1/tools', { description: `About ${tool.name}.`, ...tool });
  expect((await call('POST', '/v1/apps/crm/publish')).status).toBe(200);
  return pickText(created.body, '_id');
}

async function install(id: string): Promise<string> {
  const installed = await as(installer)('POST', `/v1/marketplace/apps/${id}/install`);
  expect(installed.status).toBe(201);
  return pickText(installed.body, '_id');
}

test('one publishes; another previews, installs, configures, chats, sees the dashboard, uninstalls', async () => {
  const id = await publish();
  const call = as(installer);

  const preview = await call('GET', `/v1/marketplace/apps/${id}`);
  const host = new URL(service.baseUrl).host;
  expect(preview).toMatchObject({
    status: 200,
    body: {
      _id: id,
      appId: 'crm',
      name: 'Customers',
      version: 1,
      grants: {
        tools: [
          { name: 'echo', type: 'http', method: 'POST', host, credentials: ['token'] },
          { name: 'orders', type: 'http', method: 'GET', host, credentials: ['token'] },
          { name: 'count', type: 'http', method: 'GET', host, credentials: ['token'] },
        ],
        hosts: [host],
        credentials: ['token'],
      },
    },
  });

  const installed = await call('POST', `/v1/marketplace/apps/${id}/install`);
  expect(installed).toMatchObject({
    status: 201,
    body: { version: 1, status: 'installed', credentials: { token: null } },
  });
  const installationId = pickText(installed.body, '_id');
  expect(await eventsOf(installer)).toEqual([{ type: 'app.installed', data: { appId: 'crm', appName: 'Customers' } }]);
  expect(await eventsOf(publisher)).toEqual(await eventsOf(installer));

  const configured = await call('POST', `/v1/installations/${installationId}/configure`, {
    credentials: { token: INSTALLERS },
  });
  expect(configured).toMatchObject({ status: 200, body: { status: 'configured', credentials: { token: '***' } } });
  expect((await eventsOf(publisher)).map(({ type }) => type)).toEqual(['app.installed', 'app.configured']);
  expect((await eventsOf(installer)).map(({ type }) => type)).toEqual(['app.installed', 'app.configured']);

  it.play([{ toolCalls: [{ name: 'echo', input: { text: '{{credentials.token}}' } }] }, { text: ['Fine.'] }]);
  const chatted = await it.chat({ message: 'Hi', appContext: 'crm' }, installer.key);
  expect(chatted).toMatchObject({ status: 200, body: { response: 'Fine.' } });
  expect(JSON.stringify(it.vendor.requests[0]?.body)).toContain('Be kind.');
  expect(service.requests).toHaveLength(1);
  const [request] = service.requests;
  expect(request?.headers).toMatchObject({ authorization: `Bearer ${INSTALLERS}`, 'x-mine': `is ${INSTALLERS}` });
  expect(request?.body).toBe('{"said":"{{credentials.token}}"}');
  expect(JSON.stringify(request)).not.toContain(PUBLISHERS);

  const dashboard = await call('GET', `/v1/apps/${installationId}/dashboard`);
  expect(dashboard).toMatchObject({
    status: 200,
    body: {
      appId: 'crm',
      widgets: [
        {
          title: 'Orders',
          status: 'ok',
          data: {
            labels: ['2026-01-30', '2026-01-31'],
            series: [
              { name: 'orders', values: [12, 17] },
              { name: 'returns', values: [1, 0] },
            ],
          },
        },
        { title: 'All', status: 'ok', data: { value: 29, unit: 'orders' } },
        { title: 'Broken', status: 'error', error: expect.stringContaining('absent') },
      ],
    },
  });

  expect((await call('DELETE', `/v1/installations/${installationId}`)).body).toEqual({ success: true });
  expect((await call('GET', `/v1/installations/${installationId}`)).status).toBe(404);
  expect((await call('GET', `/v1/apps/crm/dashboard`)).status).toBe(404);
  expect(
    await queryRows(it.app.databaseUrl, 'select id from app_installations where developer_id = $1', [installer.id]),
  ).toEqual([]);
});

describe('versions', () => {
  test('an installation keeps its version until it is brought to the next', async () => {
    const id = await publish();
    const installationId = await install(id);
    await as(installer)('POST', `/v1/installations/${installationId}/configure`, {
      credentials: { token: INSTALLERS },
    });
    await as(publisher)('PUT', '/v1/apps/crm', { app: { name: 'Clients' } });
    await as(publisher)('DELETE', '/v1/tools/orders');
    expect((await as(installer)('GET', `/v1/marketplace/apps/${id}`)).body).toMatchObject({ name: 'Customers' });
    await as(publisher)('POST', '/v1/apps/crm/publish');
    expect((await as(installer)('GET', `/v1/marketplace/apps/${id}`)).body).toMatchObject({
      name: 'Clients',
      version: 2,
    });
    const kept = await as(installer)('GET', `/v1/installations/${installationId}`);
    expect(kept.body).toMatchObject({ name: 'Customers', version: 1 });
    expect(JSON.stringify(kept.body)).toContain('orders');
    const moved = await as(installer)('POST', `/v1/marketplace/apps/${id}/install`);
    expect(moved).toMatchObject({
      status: 201,
      body: { _id: installationId, name: 'Clients', version: 2, updated: true, credentials: { token: '***' } },
    });
    const versions = await queryRows(it.app.databaseUrl, 'select version from app_versions where app_key = $1', [id]);
    expect(versions).toEqual([{ version: 2 }]);
  });

  test('a takedown or deletion hides the app and leaves installations alone', async () => {
    const id = await publish();
    const installationId = await install(id);
    await as(publisher)('POST', '/v1/apps/crm/unpublish');
    expect((await as(installer)('GET', `/v1/marketplace/apps/${id}`)).status).toBe(404);
    expect((await as(installer)('POST', `/v1/marketplace/apps/${id}/install`)).status).toBe(404);
    expect((await as(installer)('GET', '/v1/marketplace/apps?q=客户')).body).not.toMatchObject({ apps: [{ _id: id }] });
    await as(publisher)('DELETE', '/v1/apps/crm');
    expect((await as(installer)('GET', `/v1/installations/${installationId}`)).status).toBe(200);
    await as(installer)('DELETE', `/v1/installations/${installationId}`);
    expect(await queryRows(it.app.databaseUrl, 'select version from app_versions where app_key = $1', [id])).toEqual(
      [],
    );
  });

  test('the marketplace is listed in pages, by name and domain', async () => {
    const id = await publish('Unmistakable');
    const call = as(installer);
    expect((await call('GET', '/v1/marketplace/apps?q=MISTAK')).body).toMatchObject({ apps: [{ _id: id }], total: 1 });
    expect((await call('GET', '/v1/marketplace/apps?q=mistak&domain=hr')).body).toEqual({ apps: [], total: 0 });
    const first = await call('GET', '/v1/marketplace/apps?limit=1');
    expect(first.body).toMatchObject({ apps: [{ _id: id }] });
    const second = await call('GET', `/v1/marketplace/apps?limit=1&cursor=${pickText(first.body, 'nextCursor')}`);
    expect(pick(second.body, 'apps', 0, '_id')).not.toBe(id);
    expect((await call('GET', '/v1/marketplace/apps?limit=0')).status).toBe(400);
  });
});

describe('credentials', () => {
  test('a call without them says which is missing', async () => {
    await install(await publish());
    it.play([{ toolCalls: [{ name: 'orders', input: {} }] }, { text: ['Hm.'] }]);
    await it.chat({ message: 'Hi', appContext: 'crm' }, installer.key);
    expect(JSON.stringify(it.vendor.requests[1]?.body)).toContain('The credential \\"token\\" is not configured.');
    expect(service.requests).toEqual([]);
  });

  test('what is not asked for, empty, or kept without being there is refused by name', async () => {
    const path = `/v1/installations/${await install(await publish())}/configure`;
    for (const credentials of [{ other: 'x' }, { token: '' }, { token: '***' }, { token: 7 }, 'x', undefined]) {
      const answer = await as(installer)('POST', path, { credentials });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
      expect(pick(answer.body, 'error', 'message')).toContain('credentials');
    }
    expect(await as(installer)('POST', path, { credentials: {} })).toMatchObject({ body: { status: 'installed' } });
    await as(installer)('POST', path, { credentials: { token: 'abc' } });
    expect(await as(installer)('POST', path, { credentials: { token: '***' } })).toMatchObject({
      body: { status: 'configured' },
    });
    expect(await as(installer)('POST', path, { credentials: { token: null } })).toMatchObject({
      body: { status: 'installed', credentials: { token: null } },
    });
  });
});
