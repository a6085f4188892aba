import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../contract/routes/index.ts';
import { absentIds, demandSuccess, makeEveryRecord, type RecordIds } from '../testing/every-record.ts';
import { ADMIN_KEY, pick, pickText, type Answer } from '../testing/start-test-app.ts';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts';

type Routes = typeof ROUTES;
/** Ids of the routes whose path names a record. */
type Named = { [Id in keyof Routes]: Routes[Id]['path'] extends `${string}{${string}` ? Id : never }[keyof Routes];

interface Case {
  /** The records that the placeholders of the path stand for, in their order. */
  names: readonly (keyof RecordIds)[];
  query?: string;
  body?: unknown;
  /** Only the key of the service's first developer may. */
  isAdminOnly?: true;
}

const EDGE = 'from=a&to=b&relation=KNOWS';

/**
 * Every route with a placeholder in its path. One that is missing here does not compile. In an order in which the
 * owner can make all the calls: what deletes comes last, and the app is published before it is installed.
 */
const CASES: Record<Named, Case> = {
  updateDeveloper: { names: ['developer'], body: { name: 'Changed' }, isAdminOnly: true },
  getTool: { names: ['tool'] },
  updateTool: { names: ['tool'], body: { description: 'Changed.' } },
  testTool: { names: ['tool'], body: {} },
  getToolPack: { names: ['toolPack'] },
  updateToolPack: { names: ['toolPack'], body: { description: 'Changed.' } },
  publishToolPack: { names: ['toolPack'] },
  getGraphStats: { names: ['graph'] },
  writeGraphNode: { names: ['graph'], body: { type: 'T', name: 'New' } },
  listGraphNodes: { names: ['graph'] },
  getGraphNode: { names: ['graph', 'graphNode'] },
  writeGraphEdge: { names: ['graph'], body: { from: 'a', to: 'b', relation: 'KNOWS' } },
  listGraphEdges: { names: ['graph'] },
  searchGraph: { names: ['graph'], body: { query: 'node' } },
  traverseGraph: { names: ['graph'], body: { startNode: 'New' } },
  syncGraph: { names: ['graph'], body: { nodes: [{ type: 'T', name: 'Newer' }], edges: [] } },
  getKnowledgeBase: { names: ['knowledgeBase'] },
  updateKnowledgeBase: { names: ['knowledgeBase'], body: { description: 'Changed.' } },
  uploadDocument: { names: ['knowledgeBase'], body: { content: 'New.', title: 'New' } },
  listDocuments: { names: ['knowledgeBase'] },
  queryKnowledge: { names: ['knowledgeBase'], body: { query: 'text' } },
  writeContent: { names: ['knowledgeBase'], body: { content: 'Newer.' } },
  getDocument: { names: ['knowledgeBase', 'document'] },
  getApp: { names: ['app'] },
  getDashboard: { names: ['app'] },
  updateApp: { names: ['app'], body: { dashboard: {} } },
  publishApp: { names: ['app'] },
  previewMarketplaceApp: { names: ['listing'] },
  installApp: { names: ['listing'] },
  unpublishApp: { names: ['app'] },
  getInstallation: { names: ['installation'] },
  configureInstallation: { names: ['installation'], body: { credentials: {} } },
  updateWebhook: { names: ['webhook'], body: { enabled: true } },
  testWebhook: { names: ['webhook'] },
  recoverWebhook: { names: ['webhook'], body: { since: '2026-01-31T08:00:00Z' } },
  listDeliveries: { names: ['webhook'] },
  getDelivery: { names: ['delivery'] },
  redeliver: { names: ['delivery'] },
  getWorkflow: { names: ['workflow'] },
  updateWorkflow: { names: ['workflow'], body: { description: 'Changed.' } },
  runWorkflow: { names: ['workflow'], body: {} },
  listRuns: { names: ['workflow'] },
  getRun: { names: ['workflow', 'run'] },
  cancelRun: { names: ['workflow', 'run'] },
  retryRun: { names: ['workflow', 'run'] },
  deleteGraphEdge: { names: ['graph'], query: EDGE },
  deleteGraphNode: { names: ['graph', 'graphNode'] },
  deleteGraph: { names: ['graph'] },
  deleteDocument: { names: ['knowledgeBase', 'document'] },
  deleteKnowledgeBase: { names: ['knowledgeBase'] },
  deleteToolPack: { names: ['toolPack'] },
  deleteTool: { names: ['tool'] },
  deleteApp: { names: ['app'] },
  uninstallApp: { names: ['installation'] },
  deleteWebhook: { names: ['webhook'] },
  deleteWorkflow: { names: ['workflow'] },
  revokeApiKey: { names: ['apiKey'] },
};

let it: ChatApp;
let receiver: WebhookReceiver;
let owner: { id: string; key: string };
let stranger: { id: string; key: string };
let ids: Record<'owned' | 'strangers' | 'absent', RecordIds>;

async function createRecords(name: string): Promise<{ developer: { id: string; key: string }; records: RecordIds }> {
  const developer = await it.app.createDeveloper();
  const records = await makeEveryRecord({
    call: async (method, path, body) => demandSuccess(await it.app.call(method, path, { key: developer.key, body })),
    developerId: developer.id,
    name,
    url: `${receiver.url}/`,
  });
  return { developer, records };
}

beforeAll(async () => {
  it = await startChatApp();
  receiver = await startWebhookReceiver();
  const [owned, strangers] = [await createRecords('owners'), await createRecords('strangers')];
  owner = owned.developer;
  stranger = strangers.developer;
  ids = { owned: owned.records, strangers: strangers.records, absent: absentIds() };
});
afterAll(async () => {
  await it.stop();
  await receiver.stop();
});

function placeholdersOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
}

/** Calls a route with a record in the place of each placeholder of its path. */
function callNamed(id: Named, key: string, names: readonly string[]): Promise<Answer> {
  const { method, path } = ROUTES[id];
  const { query, body } = CASES[id];
  const filled = placeholdersOf(path).reduce(
    (rest, placeholder, index) => rest.replace(`{${placeholder}}`, encodeURIComponent(names[index] ?? '')),
    path,
  );
  return it.app.call(method, query === undefined ? filled : `${filled}?${query}`, { key, body });
}

/** What was asked for, new ids and moments are the same wherever they are. */
function plain({ status, body }: Answer, names: readonly string[]): { status: number; body: string } {
  // The longest first: one may be a part of another.
  const asked = names.toSorted((a, b) => b.length - a.length);
  const text = asked.reduce((rest, name) => rest.replaceAll(name, '<asked>'), JSON.stringify(body));
  return {
    status,
    body: text
      .replaceAll(/\b[a-z]{2,8}_[0-9a-hjkmnp-tv-z]{26}\b/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<moment>'),
  };
}

function isNamed(id: string): id is Named {
  return id in CASES;
}

const NAMED = Object.keys(CASES).filter(isNamed);
const NESTED = NAMED.filter((id) => CASES[id].names.length > 1);

/** What the owner sees of everything. */
async function snapshot(): Promise<string[]> {
  const reads = NAMED.filter((id) => ROUTES[id].method === 'GET');
  const answers = await Promise.all(
    reads.map(async (id) => {
      const { status, body } = await callNamed(
        id,
        owner.key,
        CASES[id].names.map((name) => ids.owned[name]),
      );
      return `${id} ${status} ${JSON.stringify(body).replaceAll(/"(lastTriggered|updatedAt|attempts)":[^,}]*/g, '')}`;
    }),
  );
  const lists = ['/v1/apps', '/v1/tools', '/v1/graph', '/v1/workflows', '/v1/auth/api-keys', '/v1/installations'];
  const listed = await Promise.all(
    lists.map(async (path) => JSON.stringify((await it.app.call('GET', path, { key: owner.key })).body)),
  );
  return [...answers, ...listed];
}

describe('a foreign id', () => {
  test('every route of the running service that names a record has a case', async () => {
    const { body } = await it.app.call('GET', '/openapi.json');
    const paths = Object.entries(Object(pick(body, 'paths'))).flatMap(([path, methods]) =>
      Object.keys(Object(methods)).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const named = paths.filter((path) => path.includes('{'));
    expect(NAMED.map((id) => `${ROUTES[id].method} ${ROUTES[id].path}`).toSorted()).toEqual(named.toSorted());
    for (const id of NAMED) expect(CASES[id].names).toHaveLength(placeholdersOf(ROUTES[id].path).length);
  });

  test('answers as an absent one on every route, and the owner sees no change', async () => {
    const before = await snapshot();
    const differing: unknown[] = [];
    for (const id of NAMED) {
      const names = (of: RecordIds) => CASES[id].names.map((name) => of[name]);
      const [foreign, absent] = [names(ids.owned), names(ids.absent)];
      const [one, other] = [
        plain(await callNamed(id, stranger.key, foreign), foreign),
        plain(await callNamed(id, stranger.key, absent), absent),
      ];
      if (one.status !== other.status || one.body !== other.body) differing.push({ id, foreign: one, absent: other });
    }
    expect(differing).toEqual([]);
    expect(await snapshot()).toEqual(before);
  });

  test.each(NESTED)('below an own record it answers as an absent one: %s', async (id) => {
    const [outer = 'app', inner = 'app'] = CASES[id].names;
    const ask = async (record: string) =>
      plain(await callNamed(id, stranger.key, [ids.strangers[outer], record]), [record]);
    expect(await ask(ids.owned[inner])).toEqual(await ask(ids.absent[inner]));
    expect((await ask(ids.owned[inner])).status).toBe(404);
  });

  test('names a record that is there: the owner gets another answer on every route', async () => {
    for (const id of NAMED) {
      const { status, body } = await callNamed(
        id,
        CASES[id].isAdminOnly ? ADMIN_KEY : owner.key,
        CASES[id].names.map((name) => ids.owned[name]),
      );
      // CONFLICT tells of a record too: the run that failed cannot be cancelled.
      expect({ id, status, body }).toMatchObject({ status: expect.toBeOneOf([200, 201, 409]) });
    }
  });
});

function call(method: string, path: string, body?: unknown): Promise<Answer> {
  return it.app.call(method, path, { key: stranger.key, body });
}

/** All that the service says to the stranger of a record of somebody else, and of one that is not there. */
async function askBoth(name: keyof RecordIds, ask: (of: RecordIds) => Promise<Answer>) {
  const foreign = (await createRecords(`fresh-${name}`)).records;
  return {
    foreign: plain(await ask(foreign), [foreign[name]]),
    absent: plain(await ask(ids.absent), [ids.absent[name]]),
  };
}

async function dashboardWith({ tool, toolPack }: RecordIds): Promise<Answer> {
  const widgets = [{ type: 'stat', title: 'T', source: tool }];
  await call('POST', '/v1/apps', { app: { id: 'mine', name: 'Mine' }, toolPacks: [toolPack], dashboard: { widgets } });
  return call('GET', '/v1/apps/mine/dashboard');
}

async function runWith({ tool }: RecordIds): Promise<Answer> {
  const nodes = [{ id: 'n', type: 'tool-call', config: { tool } }];
  const { body } = await call('POST', '/v1/workflows', { name: 'W', nodes, edges: [] });
  const path = `/v1/workflows/${pickText(body, '_id')}`;
  const run = `${path}/runs/${pickText((await call('POST', `${path}/run`, {})).body, 'runId')}`;
  await expect.poll(async () => pick((await call('GET', run)).body, 'status')).toBe('failed');
  return call('GET', run);
}

describe('a foreign name in a body or a query', () => {
  test.each(['app', 'installation'] as const)('of an appContext: %s', async (name) => {
    it.vendor.requests.length = 0;
    it.play(() => ({ text: 'Hello.' }));
    const chat = (of: RecordIds) => call('POST', '/v1/ai/chat', { message: 'Hi', appContext: of[name] });
    const { foreign, absent } = await askBoth(name, chat);
    expect(foreign).toEqual(absent);
    const [first = '', second] = it.vendor.requests.map(({ body }) => JSON.stringify(body));
    expect(first).toBe(second);
    expect(first).not.toContain('Knowledge of');
  });

  test('of a conversation', async () => {
    const body = { message: 'Hi', conversationId: 'shared-name' };
    it.play(() => ({ text: 'Hello.' }));
    await it.chat({ ...body, message: 'A secret of the owner' }, owner.key);
    it.vendor.requests.length = 0;
    await it.chat(body, stranger.key);
    expect(JSON.stringify(it.vendor.requests[0]?.body)).not.toContain('A secret of the owner');
  });

  test.each<[string, keyof RecordIds, (of: RecordIds) => Promise<Answer>]>([
    ['a tool that is called', 'tool', (of) => call('POST', '/v1/ai/tool-call', { tool: of.tool, input: {} })],
    ['a filter of tools', 'app', (of) => call('GET', `/v1/tools?appId=${of.app}`)],
    ['a filter of graphs', 'graph', (of) => call('GET', `/v1/graph?app_id=${of.graph}`)],
    ['a pack and a source of an own app', 'tool', dashboardWith],
    ['a tool in a workflow', 'tool', runWith],
  ])('of %s', async (_what, name, ask) => {
    const { foreign, absent } = await askBoth(name, ask);
    expect(foreign).toEqual(absent);
  });
});
