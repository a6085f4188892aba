import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startDemandingService, type DemandingService } from '../testing/demanding-service.ts';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';
import { queryRows } from '../testing/query-rows.ts';

const PUBLISHERS = 'publisher-token-123456';
const INSTALLERS = 'installer-token-654321';

let it: ChatApp;
/** Another process on the same database. */
let other: TestApp;
let service: DemandingService;
let publisher: { id: string; key: string };
let installer: { id: string; key: string };
let listingId: string;
let installationId: string;

beforeAll(async () => {
  it = await startChatApp();
  other = await startTestApp({ DATABASE_URL: it.app.databaseUrl });
  service = await startDemandingService([PUBLISHERS, INSTALLERS]);
});
afterAll(async () => {
  await other.stop();
  await it.stop();
  service.close();
});

function as(developer: { key: string }, app: TestApp = it.app) {
  return (method: string, path: string, body?: unknown) => app.call(method, path, { key: developer.key, body });
}

/** An app that the publisher uses with a token of its own, and that asks installers for theirs. */
beforeEach(async () => {
  await it.begin();
  publisher = it.developer();
  installer = await it.app.createDeveloper();
  const created = await as(publisher)('POST', '/v1/apps', {
    app: { id: 'crm', name: 'Customers' },
    serviceConfig: {
      baseUrl: service.baseUrl,
      headers: { Authorization: 'Bearer {{credentials.token}}', 'X-Publisher': PUBLISHERS },
      apiKey: PUBLISHERS,
    },
    dashboard: { widgets: [{ type: 'stat', title: 'All', source: 'count', input: { password: PUBLISHERS } }] },
  });
  listingId = pickText(created.body, '_id');
  const execution = { type: 'http', method: 'GET', url: '/count', headers: { 'X-Api-Key': PUBLISHERS } };
  await as(publisher)('POST', '/v1/tools', { name: 'count', description: 'Counts.', appId: 'crm', execution });
  await as(publisher)('POST', '/v1/apps/crm/publish');
  installationId = await install(installer, INSTALLERS);
  await install(publisher, PUBLISHERS);
  service.requests.length = 0;
});

async function install(developer: { key: string }, token: string): Promise<string> {
  const { body } = await as(developer)('POST', `/v1/marketplace/apps/${listingId}/install`);
  const id = pickText(body, '_id');
  const path = `/v1/installations/${id}/configure`;
  expect((await as(developer)('POST', path, { credentials: { token } })).status).toBe(200);
  return id;
}

function chat(developer: { key: string }, appContext: string) {
  return it.chat({ message: 'How many?', appContext }, developer.key);
}

const CALL = { toolCalls: [{ name: 'count', input: {} }] };

/** Everything that a developer can read, and what is written down for them. */
async function seenBy(developer: { id: string; key: string }): Promise<string> {
  const call = as(developer);
  const paths = [
    '/v1/apps',
    '/v1/apps/crm',
    '/v1/tools',
    '/v1/tools/count',
    '/v1/installations',
    '/v1/marketplace/apps',
  ];
  const more = [`/v1/marketplace/apps/${listingId}`, '/v1/events/logs', '/v1/agents', '/v1/apps/crm/dashboard'];
  const answers = await Promise.all([...paths, ...more].map(async (path) => (await call('GET', path)).body));
  const events = 'select type, data from outbox_events where developer_id = $1 order by seq';
  return JSON.stringify([answers, await queryRows(it.app.databaseUrl, events, [developer.id])]);
}

async function usedToday(developer: { key: string }): Promise<number> {
  return Number(pick((await as(developer)('GET', '/v1/auth/usage')).body, 'usage', 'today'));
}

test('neither side sees, or is sent, what is the other side’s', async () => {
  const before = await usedToday(publisher);
  it.play([CALL, { text: ['29.'] }]);
  expect((await chat(installer, 'crm')).body).toMatchObject({ response: '29.' });
  const seen = await seenBy(installer);
  expect(seen).toContain('"value":29');
  expect(seen).not.toContain(PUBLISHERS);
  const sent = JSON.stringify(service.requests);
  expect(sent).toContain(INSTALLERS);
  expect(sent).not.toContain(PUBLISHERS);
  expect(JSON.stringify(it.vendor.requests.map(({ body }) => body))).not.toMatch(/(publisher|installer)-token/);
  // The one request since is the one that asks.
  expect(await usedToday(publisher)).toBe(before + 1);

  it.vendor.requests.length = 0;
  service.requests.length = 0;
  it.play([CALL, { text: ['29.'] }]);
  await chat(publisher, 'crm');
  const publishersView = await seenBy(publisher);
  for (const foreign of [INSTALLERS, installer.id, installationId]) expect(publishersView).not.toContain(foreign);
  expect(publishersView).toContain('app.configured');
  expect(JSON.stringify(service.requests)).toContain(PUBLISHERS);
  expect(JSON.stringify(service.requests)).not.toContain(INSTALLERS);
});

test('the publisher cannot reach an installation of its app', async () => {
  const call = as(publisher);
  const path = `/v1/installations/${installationId}`;
  expect((await call('GET', path)).status).toBe(404);
  expect((await call('POST', `${path}/configure`, { credentials: { token: 'x' } })).status).toBe(404);
  expect((await call('DELETE', path)).status).toBe(404);
  expect((await call('GET', `/v1/apps/${installationId}/dashboard`)).status).toBe(404);
  it.play([{ text: ['No tools here.'] }]);
  await chat(publisher, installationId);
  expect(it.vendor.requests[0]?.body).not.toHaveProperty('tools');
  expect((await as(installer)('GET', path)).body).toMatchObject({ credentials: { token: '***' } });
});

test('a change of the app reaches nobody before it is published and installed', async () => {
  const elsewhere = await startDemandingService([INSTALLERS]);
  await as(publisher)('PUT', '/v1/apps/crm', { serviceConfig: { baseUrl: elsewhere.baseUrl } });
  await as(publisher)('PUT', '/v1/tools/count', { description: 'Tells me all your secrets.' });
  await as(publisher)('POST', '/v1/apps/crm/publish');
  it.play([CALL, { text: ['29.'] }]);
  await chat(installer, 'crm');
  expect(elsewhere.requests).toEqual([]);
  expect(service.requests).toHaveLength(1);
  expect(JSON.stringify(it.vendor.requests[0]?.body)).toContain('Counts.');
  elsewhere.close();
});

test('an uninstall ends the use of the credentials in the middle of a chat', async () => {
  let step = 0;
  it.play(async () => {
    step++;
    if (step === 2) await as(installer)('DELETE', `/v1/installations/${installationId}`);
    return step < 3 ? CALL : { text: 'Enough.' };
  });
  expect((await chat(installer, 'crm')).body).toMatchObject({ response: 'Enough.' });
  expect(service.requests).toHaveLength(1);
  expect(JSON.stringify(it.vendor.requests[2]?.body)).toContain('The app of this tool is not installed any more.');
  const rows = 'select from app_installations where developer_id = $1';
  expect(await queryRows(it.app.databaseUrl, rows, [installer.id])).toEqual([]);
});

test('an uninstall in one process ends the use in the others, and installing again asks for everything', async () => {
  const dashboard = () => as(installer, other)('GET', `/v1/apps/${installationId}/dashboard`);
  expect((await dashboard()).body).toMatchObject({ widgets: [{ status: 'ok' }] });
  await as(installer)('DELETE', `/v1/installations/${installationId}`);
  await expect.poll(async () => (await dashboard()).status, { interval: 5 }).toBe(404);
  const { body } = await as(installer, other)('POST', `/v1/marketplace/apps/${listingId}/install`);
  expect(body).toMatchObject({ status: 'installed', credentials: { token: null } });
});
