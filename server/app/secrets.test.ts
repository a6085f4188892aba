import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseText } from '../testing/database-text.ts';
import { startDemandingService, type DemandingService } from '../testing/demanding-service.ts';
import { startScriptedVendor, type ScriptedVendor } from '../testing/scripted-vendor.ts';
import { ADMIN_KEY, callApi, pick, pickText } from '../testing/start-test-app.ts';
import { cleanUpProcesses, startProcess, type ServiceProcess } from '../testing/start-process.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts';

/** By what they are; what follows the dash is never to be seen again. */
const SECRETS = {
  publishersHeader: 'publisher-header-0a9f',
  publishersOther: 'publisher-x-key-1b8e',
  clientSecret: 'oauth-client-secret-2c7d',
  password: 'integration-password-3d6c',
  userInfo: 'user-info-password-4e5b',
  widgetToken: 'widget-token-5f4a',
  toolsOwn: 'tool-header-key-6a39',
  credential: 'installer-token-7b28 with a space/',
  credentialBefore: 'installer-token-8c17-before',
  refused: 'refused-secret-9d06',
  webhook: 'webhook-secret-ae15',
  webhookBefore: 'webhook-secret-bf24-before',
  vendor: 'vendor-key-c033',
  master: randomBytes(32).toString('base64'),
};

let vendor: ScriptedVendor;
let demanding: DemandingService;
let receiver: WebhookReceiver;
let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  // A model that calls every tool it is offered, and then repeats all that it was told.
  vendor = await startScriptedVendor({
    script: ({ body }) => {
      const [tools, messages] = [body['tools'], JSON.stringify(body['messages'])];
      const names = [...JSON.stringify(tools ?? []).matchAll(/"name":"(\w+)"/g)].map(([, name]) => name ?? '');
      const isFirst = !messages.includes('tool_result');
      return isFirst && names.length > 0
        ? { toolCalls: names.map((name) => ({ name, input: { text: 'x' } })) }
        : { text: `You said ${messages}` };
    },
  });
  demanding = await startDemandingService([SECRETS.publishersHeader, SECRETS.credential]);
  receiver = await startWebhookReceiver({ answer: { status: 500 } });
  database = await createTestDatabase();
  service = await startProcess({
    env: {
      DATABASE_URL: database.url,
      BOOTSTRAP_API_KEY: ADMIN_KEY,
      ENCRYPTION_KEY: SECRETS.master,
      AI_DEFAULT_BASE_URL: vendor.baseUrl,
      AI_DEFAULT_API_KEY: SECRETS.vendor,
      LOG_LEVEL: 'trace',
    },
  });
});
afterAll(async () => {
  await cleanUpProcesses();
  await receiver.stop();
  demanding.close();
  await vendor.close();
  await database.drop();
});

function as(key: string) {
  return async (method: string, path: string, body?: unknown) => {
    const answer = await callApi(service.url, { method, path, key, ...(body === undefined ? {} : { body }) });
    answers.push(JSON.stringify(answer.body));
    return answer;
  };
}

/** Everything that was answered to anybody. */
const answers: string[] = [];
const PATHS = ['orders', 'count', 'denied', 'lies', 'breaks', 'echo'];

async function createDeveloper(): Promise<string> {
  const created = await callApi(service.url, {
    method: 'POST',
    path: '/v1/admin/developers',
    key: ADMIN_KEY,
    body: { name: 'Somebody', tier: 'enterprise' },
  });
  return pickText(created.body, 'apiKey', 'key');
}

function definition(authorization: string) {
  return {
    app: { id: 'crm', name: 'Customers' },
    serviceConfig: {
      baseUrl: demanding.baseUrl,
      credentials: ['token'],
      headers: { Authorization: `Bearer ${authorization}`, 'X-Other': SECRETS.publishersOther },
      oauth: { clientId: 'public', clientSecret: SECRETS.clientSecret },
    },
    dashboard: {
      widgets: PATHS.map((source) => ({ type: 'stat', title: source, source, input: { token: SECRETS.widgetToken } })),
    },
    integration: { password: SECRETS.password, mirror: `https://me:${SECRETS.userInfo}@mirror.example.com/` },
  };
}

async function registerTools(call: ReturnType<typeof as>): Promise<void> {
  for (const name of PATHS) {
    const params = { key: '{{credentials.token}}' };
    const execution = { type: 'http', method: 'GET', url: `/${name}`, headers: { 'X-Api-Key': 'public' }, params };
    await call('POST', '/v1/tools', { name, description: 'x', appId: 'crm', execution });
  }
}

async function runWorkflow(call: ReturnType<typeof as>): Promise<void> {
  const nodes = PATHS.map((tool) => ({ id: tool, type: 'tool-call', config: { tool, input: {} } }));
  const created = await call('POST', '/v1/workflows', { name: 'All', trigger: { type: 'manual' }, nodes, edges: [] });
  const path = `/v1/workflows/${pickText(created.body, '_id')}`;
  const { body } = await call('POST', `${path}/run`, {});
  const run = `${path}/runs/${pickText(body, 'runId')}`;
  const ended = expect.stringMatching(/^(completed|failed)$/);
  await expect.poll(async () => pick((await call('GET', run)).body, 'status'), { timeout: 20_000 }).toEqual(ended);
}

async function beThePublisher(call: ReturnType<typeof as>): Promise<string> {
  for (const secret of [SECRETS.webhookBefore, SECRETS.webhook]) {
    const hook = { event: 'tool.failed', url: `${receiver.url}/hook`, secret };
    const { body } = await call('POST', '/v1/events/webhooks', hook);
    await call('PATCH', `/v1/events/webhooks/${pickText(body, '_id')}`, { secret: `${secret} again` });
  }
  const created = await call('POST', '/v1/apps', definition(SECRETS.publishersHeader));
  await registerTools(call);
  const shown = pick((await call('GET', '/v1/apps/crm')).body, 'definition');
  await call('POST', '/v1/apps', shown);
  await call('POST', '/v1/apps', { ...definition(SECRETS.refused), app: { id: 'crm' } });
  await call('PUT', '/v1/apps/crm', { serviceConfig: { headers: { 'X-Bad': `${SECRETS.refused}\r\n` } } });
  await call('PUT', '/v1/apps/crm', { serviceConfig: { password: [SECRETS.refused], headers: SECRETS.refused } });
  await call('POST', '/v1/apps', `{"app": {"id": "crm", "name": "${SECRETS.refused}`);
  await call('PUT', '/v1/tools/echo', {
    execution: { type: 'http', method: 'GET', url: '/echo', headers: { 'X-Own': '{{credentials.token}}' } },
  });
  return pickText(created.body, '_id');
}

/** Everything that calls tools with what is sealed. */
async function useTools(call: ReturnType<typeof as>, appContext: string): Promise<void> {
  for (const tool of PATHS) {
    await call('POST', '/v1/ai/tool-call', { tool, input: {} });
    await call('POST', `/v1/tools/${tool}/test`, {});
  }
  await call('GET', `/v1/apps/${appContext}/dashboard`);
  await call('POST', '/v1/ai/chat', { message: 'Hi', appContext, conversationId: 'c1' });
  await call('POST', '/v1/ai/chat', { message: 'Again', appContext, conversationId: 'c1' });
}

async function beTheInstaller(call: ReturnType<typeof as>, listingId: string): Promise<void> {
  const { body } = await call('POST', `/v1/marketplace/apps/${listingId}/install`);
  const path = `/v1/installations/${pickText(body, '_id')}`;
  const configure = (credentials: unknown) => call('POST', `${path}/configure`, { credentials });
  await configure({ token: SECRETS.credentialBefore });
  await configure({ token: SECRETS.credential });
  await configure({ token: '***' });
  await configure({ other: SECRETS.refused });
  await configure({ token: [SECRETS.refused] });
  await configure(SECRETS.refused);
  await call('GET', path);
  await useTools(call, pickText(body, '_id'));
}

test('what is secret is in no row, no line of the log, and no answer', async () => {
  const [publisherKey, installerKey] = [await createDeveloper(), await createDeveloper()];
  const [publisher, installer] = [as(publisherKey), as(installerKey)];
  const listingId = await beThePublisher(publisher);
  await installer('GET', '/v1/installations');
  // The publisher installs its own app as well: its tools ask for the credential.
  await publisher('POST', '/v1/apps/crm/publish');
  await beTheInstaller(publisher, listingId);
  await useTools(publisher, 'crm');
  await runWorkflow(publisher);
  await publisher('PUT', '/v1/apps/crm', {
    serviceConfig: {
      ...definition('').serviceConfig,
      headers: { Authorization: 'Bearer {{credentials.token}}', 'X-Other': '***' },
      oauth: { clientId: 'public', clientSecret: '***' },
    },
  });
  await publisher('POST', '/v1/apps/crm/publish');
  await beTheInstaller(installer, listingId);
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBeGreaterThan(3);

  // That it was in use at all: the service got it, in headers and in addresses.
  const told = JSON.stringify(demanding.requests);
  for (const used of ['publishersHeader', 'publishersOther', 'credential'] as const) {
    expect(told).toContain(SECRETS[used]);
  }
  const stored = await databaseText(database.url);
  expect((await service.stop()).code).toBe(0);
  const logged = service.stdout() + service.stderr();
  expect(logged).toContain('"level":"debug"');
  expect(logged).toContain('"code":"TOOL_FAILED"');
  expect(stored).toMatch(/v1\.[0-9a-f]{8}\./);
  const received = receiver.received.map(({ body, headers }) => body.toString() + JSON.stringify(headers)).join('\n');
  const asked = JSON.stringify(vendor.requests.map(({ body }) => body));
  const places = { stored, logged, answered: answers.join('\n'), received, asked };
  const found = Object.entries({ ...SECRETS, publisherKey, installerKey, ADMIN_KEY }).flatMap(([name, secret]) =>
    Object.entries(places)
      .filter(([, text]) => formsOf(secret).some((form) => text.includes(form)))
      .map(([place]) => `${name} was ${place}`),
  );
  expect(found).toEqual([]);
});

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Without the ends: what stands before and after changes the characters there.
  const base64 = bytes.toString('base64').slice(0, -4);
  return [secret, encodeURIComponent(secret), bytes.toString('hex'), base64];
}
