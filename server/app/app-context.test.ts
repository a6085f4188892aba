import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';
import { startDemandingService, type DemandingService } from '../testing/demanding-service.ts';
import type { VendorRequestRecord } from '../testing/scripted-vendor-turn.ts';

let it: ChatApp;
let service: DemandingService;

beforeAll(async () => {
  it = await startChatApp();
  service = await startDemandingService(['own-token-123456']);
});
afterAll(async () => {
  await it.stop();
  service.close();
});
beforeEach(async () => {
  await it.begin();
  service.requests.length = 0;
});

function call(method: string, path: string, body?: unknown) {
  return it.app.call(method, path, { key: it.developer().key, body });
}

async function makeApp() {
  await call('POST', '/v1/tools/packs', {
    id: 'basics',
    name: 'Basics',
    tools: ['pack_tool', 'gone', 'sleeping'],
    knowledge: 'Orders above 100 need approval.',
  });
  await call('POST', '/v1/apps', {
    app: { id: 'crm', name: 'Customers' },
    serviceConfig: { baseUrl: service.baseUrl, headers: { Authorization: 'Bearer own-token-123456' } },
    toolPacks: ['basics', 'absent'],
  });
  const tools = [
    { name: 'crm_tool', appId: 'crm', execution: { type: 'http', method: 'GET', url: '/things/{id}' } },
    { name: 'pack_tool', execution: { type: 'http', method: 'GET', url: 'packed' } },
    { name: 'sleeping', execution: { type: 'http', method: 'GET', url: 'packed' } },
    { name: 'other_tool', execution: { type: 'http', method: 'GET', url: 'http://127.0.0.1:1/' } },
  ];
  for (const tool of tools) await call('POST', '/v1/tools', { description: 'A tool.', ...tool });
  await call('PUT', '/v1/tools/sleeping', { enabled: false });
}

function toolNames(request: VendorRequestRecord | undefined): string[] {
  return [...JSON.stringify(request?.body).matchAll(/"name":"([a-z_]+)"/g)].map((match) => match[1] ?? '').toSorted();
}

test('a chat in the context of an app has its tools, those of its packs, and their knowledge', async () => {
  await makeApp();
  it.play([
    {
      toolCalls: [
        { name: 'crm_tool', input: { id: 'a b' } },
        { name: 'pack_tool', input: {} },
      ],
    },
    { text: ['Done.'] },
  ]);
  const answer = await it.chat({ message: 'Hi', appContext: 'crm' });
  expect(answer).toMatchObject({ status: 200, body: { response: 'Done.' } });
  const [first] = it.vendor.requests;
  expect(toolNames(first)).toEqual(['crm_tool', 'pack_tool']);
  expect(JSON.stringify(first?.body)).toContain('Orders above 100 need approval.');
  expect(service.requests.map(({ path, headers }) => [path, headers['authorization']])).toEqual(
    expect.arrayContaining([
      ['/api/things/a%20b', 'Bearer own-token-123456'],
      ['/api/packed', 'Bearer own-token-123456'],
    ]),
  );
});

test('knowledge comes after the prompt of the caller, and not without the app', async () => {
  await makeApp();
  it.play([{ text: ['A'] }, { text: ['B'] }]);
  await it.chat({ message: 'Hi', appContext: 'crm', systemPrompt: 'Be brief.' });
  await it.chat({ message: 'Hi', systemPrompt: 'Be brief.' });
  expect(JSON.stringify(it.vendor.requests[0]?.body)).toContain('Be brief.\\n\\nOrders above 100 need approval.');
  expect(JSON.stringify(it.vendor.requests[1]?.body)).not.toContain('Orders above 100');
  expect(toolNames(it.vendor.requests[1])).toEqual(['crm_tool', 'other_tool', 'pack_tool']);
});

test('knowledge that is too long for a model is left out pack by pack, and said to be', async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `pack-${index}`);
  for (const id of ids) {
    await call('POST', '/v1/tools/packs', { id, name: id, knowledge: `Of ${id}: ${'x'.repeat(19_980)}` });
  }
  await call('POST', '/v1/apps', { app: { id: 'crm', name: 'Customers' }, toolPacks: ids });
  it.play([{ text: ['A'] }]);
  await it.chat({ message: 'Hi', appContext: 'crm' });
  const prompt = JSON.stringify(it.vendor.requests[0]?.body);
  expect(prompt).toContain('Of pack-9:');
  expect(prompt).not.toContain('Of pack-10:');
  expect(prompt).toContain('left out, as too long: pack-10, pack-11]');
});

test('an id that no app has still selects the tools that carry it', async () => {
  await call('POST', '/v1/tools', {
    name: 'lonely',
    description: 'x',
    appId: 'nothing',
    execution: { type: 'handler' },
  });
  await call('POST', '/v1/tools', { name: 'free', description: 'x', execution: { type: 'handler' } });
  it.play([{ text: ['A'] }]);
  await it.chat({ message: 'Hi', appContext: 'nothing' });
  expect(toolNames(it.vendor.requests[0])).toEqual(['lonely']);
});

test('tool-call and test use the service of the app as well', async () => {
  await makeApp();
  const called = await call('POST', '/v1/ai/tool-call', { tool: 'crm_tool', input: { id: '7' } });
  expect(called).toMatchObject({ status: 200, body: { result: { path: '/api/things/7' } } });
  const tried = await call('POST', '/v1/tools/crm_tool/test', { input: { id: '8' } });
  expect(tried).toMatchObject({ status: 200, body: { status: 'success', result: { path: '/api/things/8' } } });
  await call('PUT', '/v1/apps/crm', { serviceConfig: { baseUrl: service.baseUrl } });
  const refused = await call('POST', '/v1/tools/crm_tool/test', { input: { id: '8' } });
  expect(refused).toMatchObject({ status: 200, body: { status: 'error' } });
});

test('what a service repeats of a secret stays out of results and events; ordinary words stay in results', async () => {
  await makeApp();
  const headers = { Authorization: 'Bearer own-token-123456', Accept: 'application/json', 'X-Path': '/api/things/7' };
  await call('PUT', '/v1/apps/crm', { serviceConfig: { baseUrl: service.baseUrl, headers } });
  const called = await call('POST', '/v1/ai/tool-call', { tool: 'crm_tool', input: { id: '7' } });
  expect(called.body).toEqual({ status: 'success', result: { path: '/api/things/7', said: '***' } });
  await call('PUT', '/v1/apps/crm', { serviceConfig: { baseUrl: service.baseUrl, headers: { Authorization: '***' } } });
  await call('POST', '/v1/ai/tool-call', { tool: 'crm_tool', input: { id: '7' } });
  const events = JSON.stringify(await it.eventRows());
  expect(events).toContain('/api/things/7');
  expect(events).not.toContain('own-token-123456');
});
