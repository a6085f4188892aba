import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pick, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
let developer: { id: string; key: string };

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
beforeEach(async () => {
  developer = await app.createDeveloper();
});

function call(method: string, path: string, body?: unknown) {
  return app.call(method, path, { key: developer.key, body });
}

const CRM = {
  app: { id: 'crm', name: 'Customers', nameZh: '客户', domain: 'operations', subsystem: 'CRM' },
  serviceConfig: { credentials: ['token'], baseUrl: 'https://crm.example.com/api' },
  dashboard: { widgets: [{ type: 'chart', title: 'Orders', source: 'orders', chartType: 'line' }] },
  toolPacks: ['crm-basics'],
};

describe('the life of an app', () => {
  test('created as a draft, read, listed, changed, deleted', async () => {
    const created = await call('POST', '/v1/apps', CRM);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      _id: expect.stringMatching(/^app_/),
      appId: 'crm',
      developerId: developer.id,
      definition: CRM,
      status: 'draft',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await call('GET', '/v1/apps/crm')).toMatchObject({ status: 200, body: created.body });
    const [_id, updatedAt] = [pick(created.body, '_id'), pick(created.body, 'updatedAt')];
    expect((await call('GET', '/v1/apps')).body).toEqual({
      apps: [{ _id, appId: 'crm', definition: CRM, status: 'draft', updatedAt }],
      total: 1,
    });
    const changed = await call('PUT', '/v1/apps/crm', { app: { name: 'Clients' }, toolPacks: [] });
    expect(changed).toMatchObject({
      status: 200,
      body: { status: 'draft', createdAt: pick(created.body, 'createdAt') },
    });
    expect(pick(changed.body, 'definition')).toEqual({
      ...CRM,
      app: { ...CRM.app, name: 'Clients' },
      toolPacks: [],
    });
    expect((await call('DELETE', '/v1/apps/crm')).body).toEqual({ success: true });
    expect((await call('GET', '/v1/apps/crm')).status).toBe(404);
    expect((await call('GET', '/v1/apps')).body).toEqual({ apps: [], total: 0 });
  });

  test('an app of that id is updated, and says so', async () => {
    await call('POST', '/v1/apps', CRM);
    const again = await call('POST', '/v1/apps', { app: { id: 'crm', name: 'Other' } });
    expect(again).toMatchObject({ status: 201, body: { updated: true, status: 'draft' } });
    expect(pick(again.body, 'definition')).toEqual({ app: { id: 'crm', name: 'Other' } });
    expect((await call('GET', '/v1/apps/crm')).body).not.toHaveProperty('updated');
  });

  test('published, changed while published, taken down', async () => {
    await call('POST', '/v1/apps', CRM);
    expect(await call('POST', '/v1/apps/crm/publish')).toMatchObject({
      status: 200,
      body: { success: true, status: 'published' },
    });
    expect((await call('POST', '/v1/apps', CRM)).body).toMatchObject({ status: 'published', updated: true });
    expect((await call('POST', '/v1/apps/crm/unpublish')).body).toEqual({ success: true, status: 'draft' });
    expect((await call('GET', '/v1/apps/crm')).body).toMatchObject({ status: 'draft' });
    expect((await call('PUT', '/v1/apps/crm', { status: 'published' })).body).toMatchObject({ status: 'published' });
    expect((await call('PUT', '/v1/apps/crm', { status: 'draft' })).body).toMatchObject({ status: 'draft' });
  });

  test('unknown keys are kept, at every level', async () => {
    const body = {
      app: { id: 'crm', name: 'Customers', icon: 'star' },
      serviceConfig: { region: 'eu', retry: { times: 3 } },
      dashboard: { columns: 2, widgets: [{ type: 'stat', title: 'T', source: 's', size: { w: 1 } }] },
      homepage: { url: 'https://example.com' },
    };
    expect(pick((await call('POST', '/v1/apps', body)).body, 'definition')).toEqual(body);
    expect(pick((await call('PUT', '/v1/apps/crm', { app: { color: 'red' } })).body, 'definition')).toEqual({
      ...body,
      app: { ...body.app, color: 'red' },
    });
  });

  test('creates at the same time leave one app', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', '/v1/apps', CRM)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
    expect(answers.filter(({ body }) => !JSON.stringify(body).includes('"updated":true'))).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => pick(body, '_id'))).size).toBe(1);
  });
});

describe('what is refused', () => {
  test.each([
    ['app', {}],
    ['app', { app: 'crm' }],
    ['app.id', { app: { name: 'Customers' } }],
    ['app.name', { app: { id: 'crm' } }],
    ['app.id', { app: { id: '', name: 'Customers' } }],
    ['app.id', { app: { id: 'x'.repeat(129), name: 'Customers' } }],
    ['app.id', { app: { id: 'a\u0000b', name: 'Customers' } }],
    ['app.id', { app: { id: 'a\u0085b', name: 'Customers' } }],
    ['app.id', { app: { id: '..', name: 'Customers' } }],
    ['app.id', { app: { id: 7, name: 'Customers' } }],
    ['app.name', { app: { id: 'crm', name: ' ' } }],
    ['serviceConfig', { ...CRM, serviceConfig: 'x' }],
    ['serviceConfig.credentials', { ...CRM, serviceConfig: { credentials: 'token' } }],
    ['serviceConfig.credentials[0]', { ...CRM, serviceConfig: { credentials: [{ token: 'x' }] } }],
    ['serviceConfig.baseUrl', { ...CRM, serviceConfig: { baseUrl: 'ftp://crm.example.com' } }],
    ['serviceConfig.baseUrl', { ...CRM, serviceConfig: { baseUrl: 'https://me:secret@crm.example.com' } }],
    ['serviceConfig.headers.A B', { ...CRM, serviceConfig: { headers: { 'A B': 'x' } } }],
    ['serviceConfig.headers.A', { ...CRM, serviceConfig: { headers: { A: 'x\r\nB: y' } } }],
    ['serviceConfig.headers.A', { ...CRM, serviceConfig: { headers: { A: '***' } } }],
    ['dashboard.widgets[0].type', { ...CRM, dashboard: { widgets: [{ type: 'map', title: 'T', source: 's' }] } }],
    ['dashboard.widgets[0].source', { ...CRM, dashboard: { widgets: [{ type: 'stat', title: 'T' }] } }],
    [
      'dashboard.widgets[0].chartType',
      { ...CRM, dashboard: { widgets: [{ type: 'chart', title: 'T', source: 's', chartType: 'radar' }] } },
    ],
    ['toolPacks', { ...CRM, toolPacks: 'crm-basics' }],
    ['toolPacks[0]', { ...CRM, toolPacks: [''] }],
    ['toolPacks[0]', { ...CRM, toolPacks: ['a\u0007'] }],
    ['dashboard.widgets', { ...CRM, dashboard: { widgets: {} } }],
    ['dashboard.widgets[0].source', { ...CRM, dashboard: { widgets: [{ type: 'stat', title: 'T', source: 'a\n' }] } }],
    ['serviceConfig.headers', { ...CRM, serviceConfig: { headers: 'X' } }],
  ])('creating names %s: %j', async (field, body) => {
    const answer = await call('POST', '/v1/apps', body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
    expect(pick(answer.body, 'error', 'message')).toContain(field);
  });

  test.each([
    ['status', { status: 'live' }],
    ['status', { status: null }],
    ['status', { status: ['published'] }],
    ['status', { app: { name: 'Other' }, status: 'PUBLISHED' }],
    ['app.id', { app: { id: 'other' } }],
    ['app', { app: 'crm' }],
    ['serviceConfig', { serviceConfig: [] }],
  ])('changing names %s: %j', async (field, body) => {
    await call('POST', '/v1/apps', CRM);
    const answer = await call('PUT', '/v1/apps/crm', body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
    expect(pick(answer.body, 'error', 'message')).toContain(field);
    expect(pick((await call('GET', '/v1/apps/crm')).body, 'definition')).toEqual(CRM);
  });

  test('more than fits in memory with all other apps, and nothing of it is kept', async () => {
    const filler = 'x'.repeat(500_000);
    const create = (index: number, more: object) =>
      call('POST', '/v1/apps', { app: { id: `app-${index}`, name: 'Large' }, ...more });
    for (let index = 0; index < 67; index++) expect((await create(index, { filler })).status).toBe(201);
    const over = { status: 409, body: { error: { code: 'CONFLICT' } } };
    expect(await create(67, { filler })).toMatchObject(over);
    expect(await call('GET', '/v1/apps/app-67')).toMatchObject({ status: 404 });
    expect((await create(67, {})).status).toBe(201);
    expect(await call('PUT', '/v1/apps/app-67', { filler })).toMatchObject(over);
    expect(pick((await call('GET', '/v1/apps/app-67')).body, 'definition')).not.toHaveProperty('filler');
    await call('DELETE', '/v1/apps/app-0');
    expect((await call('PUT', '/v1/apps/app-67', { filler })).status).toBe(200);
  });

  test('what is not there is 404', async () => {
    for (const id of ['nothing', 'a%00b', '..%2f', 'x'.repeat(500)]) {
      expect((await call('GET', `/v1/apps/${id}`)).status).toBe(404);
      expect((await call('PUT', `/v1/apps/${id}`, {})).status).toBe(404);
      expect((await call('DELETE', `/v1/apps/${id}`)).status).toBe(404);
      expect((await call('POST', `/v1/apps/${id}/publish`)).status).toBe(404);
      expect((await call('POST', `/v1/apps/${id}/unpublish`)).status).toBe(404);
    }
  });

  test('a key without write is refused', async () => {
    await call('POST', '/v1/apps', CRM);
    const { key } = await app.createKey(developer.key, ['read']);
    expect((await app.call('GET', '/v1/apps/crm', { key })).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/v1/apps'],
      ['PUT', '/v1/apps/crm'],
      ['DELETE', '/v1/apps/crm'],
      ['POST', '/v1/apps/crm/publish'],
    ] as const) {
      expect((await app.call(method, path, { key, body: CRM })).status).toBe(403);
    }
  });
});
