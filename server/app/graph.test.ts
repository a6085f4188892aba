import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as contract from '../../contract/routes/graph.ts';
import { compileValidator } from '../platform/json/index.ts';
import { graphCalls, idsOf, OFFICES } from '../testing/graph-calls.ts';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
/** Another process on the same database, whose answers come from the database alone. */
let bare: TestApp;
let developer: { id: string; key: string };

const { call, node, edge, sync, stats, traverse } = graphCalls(() => ({ app, developer }));

beforeAll(async () => {
  app = await startTestApp();
  bare = await startTestApp({ DATABASE_URL: app.databaseUrl, HOT_INDEX_MB: '0' });
});
afterAll(async () => {
  await bare.stop();
  await app.stop();
});
beforeEach(async () => {
  developer = await app.createDeveloper();
});

const NO_STATS = {
  appId: 'crm',
  nodeCount: 0,
  edgeCount: 0,
  pendingEdgeCount: 0,
  objectTypes: {},
  relations: {},
};

describe('nodes', () => {
  test('are created, read, updated and deleted', async () => {
    const ada = { appId: 'crm', objectType: 'Person', name: ' Ada  Lovelace ', externalId: 'Ada_Lovelace' };
    const created = await node('Person', ' Ada  Lovelace ', { properties: { b: 1, a: 'ü' } });
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({ ...ada, properties: { b: 1, a: 'ü' } });

    const kept = await node('Woman', ' Ada  Lovelace ');
    expect(kept.body).toEqual({ ...ada, objectType: 'Woman', properties: { b: 1, a: 'ü' } });
    const replaced = await node('Woman', 'Ada', { externalId: 'Ada_Lovelace', properties: {} });
    expect(replaced.body).toEqual({ ...ada, objectType: 'Woman', name: 'Ada', properties: {} });
    expect((await call('GET', '/crm/nodes/Ada_Lovelace')).body).toEqual(replaced.body);
    expect(await stats()).toEqual({
      appId: 'crm',
      nodeCount: 1,
      edgeCount: 0,
      pendingEdgeCount: 0,
      objectTypes: { Woman: 1 },
      relations: {},
    });

    expect(await call('DELETE', '/crm/nodes/Ada_Lovelace')).toMatchObject({ status: 200, body: { success: true } });
    expect((await call('GET', '/crm/nodes/Ada_Lovelace')).status).toBe(404);
    expect((await call('DELETE', '/crm/nodes/Ada_Lovelace')).status).toBe(404);
  });

  test.each([
    [{ name: 'x' }, 'type is required.'],
    [{ type: 'x' }, 'name is required.'],
    [{ type: 'x', name: '' }, 'name must not be empty.'],
    [{ type: 'x', name: '  ' }, 'name is blank, so externalId is required.'],
    [{ type: 'x', name: 'x', externalId: 7 }, 'externalId must be a string.'],
    [{ type: 'x', name: 'x', properties: [] }, 'properties must be an object.'],
  ])('refuses %j', async (body, message) => {
    const refused = await call('POST', '/crm/nodes', body);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST', message } } });
  });

  test('are listed by externalId, in pages, filtered by type, name and properties', async () => {
    await sync(OFFICES);
    const all = await call('GET', '/crm/nodes');
    expect(idsOf(all.body, 'nodes')).toEqual(['Ada', 'Berlin', 'Bob', 'hq']);
    expect(pick(all.body, 'total')).toBe(4);

    const first = (await call('GET', '/crm/nodes?limit=3')).body;
    const cursor = pickText(first, 'nextCursor');
    const second = (await call('GET', `/crm/nodes?limit=3&cursor=${cursor}`)).body;
    expect([...idsOf(first, 'nodes'), ...idsOf(second, 'nodes')]).toEqual(['Ada', 'Berlin', 'Bob', 'hq']);
    expect(second).not.toHaveProperty('nextCursor');

    const people = (await call('GET', '/crm/nodes?object_type=Person')).body;
    expect({ ids: idsOf(people, 'nodes'), total: pick(people, 'total') }).toEqual({ ids: ['Ada', 'Bob'], total: 2 });
    expect(idsOf((await call('GET', '/crm/nodes?name=OFFICE')).body, 'nodes')).toEqual(['hq']);
    const filter = encodeURIComponent('{"address":{"floor":3}}');
    expect(idsOf((await call('GET', `/crm/nodes?properties=${filter}`)).body, 'nodes')).toEqual(['Ada']);
    expect((await call('GET', '/crm/nodes?properties=7')).status).toBe(400);
    expect((await call('GET', '/crm/nodes?limit=0')).status).toBe(400);
    expect((await call('GET', '/crm/nodes?cursor=x')).status).toBe(400);
    const before = Buffer.from('[-1]').toString('base64url');
    expect((await call('GET', `/crm/nodes?name=a&cursor=${before}`)).status).toBe(400);
  });

  test('and graphs whose name cannot exist are as absent ones', async () => {
    await sync(OFFICES);
    expect(await call('GET', '/%00/stats')).toMatchObject({ status: 200, body: { nodeCount: 0 } });
    expect((await call('GET', '/%00/nodes')).body).toEqual({ nodes: [], total: 0 });
    expect((await call('POST', '/%00/nodes', { type: 't', name: 'x' })).status).toBe(400);
    for (const [method, path] of [
      ['GET', '/crm/nodes/%00'],
      ['DELETE', '/crm/nodes/%00'],
      ['DELETE', '/%00'],
    ] as const) {
      expect(await call(method, path)).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
    }
  });

  test('take pattern characters in a name literally', async () => {
    await sync({
      nodes: [
        { type: 't', name: '100% sure_thing' },
        { type: 't', name: '100 x' },
        { type: 't', name: 'a.*b' },
      ],
    });
    expect(idsOf((await call('GET', '/crm/nodes?name=0%25')).body, 'nodes')).toEqual(['100%_sure_thing']);
    expect(idsOf((await call('GET', '/crm/nodes?name=.*')).body, 'nodes')).toEqual(['a.*b']);
  });
});

describe('edges', () => {
  test('connect nodes by externalId or name, one for each relation', async () => {
    await sync({ nodes: OFFICES.nodes });
    const created = await edge(['Ada', 'WORKS_IN', 'Main office'], { days: 3 });
    const stored = { appId: 'crm', from: 'Ada', to: 'hq', relation: 'WORKS_IN', properties: { days: 3 } };
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual(stored);
    expect((await edge(['Ada', 'WORKS_IN', 'hq'])).body).toEqual(stored);
    expect((await edge(['Ada', 'OWNS', 'hq'])).status).toBe(201);
    expect((await edge(['Ada', 'KNOWS', 'Ada'])).status).toBe(201);
    expect(await stats()).toMatchObject({ edgeCount: 3, relations: { KNOWS: 1, OWNS: 1, WORKS_IN: 1 } });

    const listed = (await call('GET', '/crm/edges?to=hq&relation=WORKS_IN')).body;
    expect(listed).toEqual({ edges: [stored] });
    const page = (await call('GET', '/crm/edges?limit=2')).body;
    const rest = (await call('GET', `/crm/edges?cursor=${pickText(page, 'nextCursor')}`)).body;
    expect(pick(rest, 'edges')).toHaveLength(1);
    expect((await call('DELETE', '/crm/edges?from=Ada&to=hq&relation=OWNS')).status).toBe(200);
    expect((await call('DELETE', '/crm/edges?from=Ada&to=hq&relation=OWNS')).status).toBe(404);
    expect(await stats()).toMatchObject({ edgeCount: 2, relations: { KNOWS: 1, WORKS_IN: 1 } });
  });

  test('wait for nodes that do not exist yet', async () => {
    const pending = { appId: 'crm', from: 'Main office', to: 'Berlin', relation: 'LOCATED_IN', properties: {} };
    expect((await edge(['Main office', 'LOCATED_IN', 'Berlin'])).body).toEqual({ ...pending, pending: true });
    expect((await edge(['Main office', 'LOCATED_IN', 'Berlin'])).status).toBe(201);
    await node('City', 'Berlin');
    expect(await stats()).toMatchObject({ edgeCount: 0, pendingEdgeCount: 1 });
    expect((await call('GET', '/crm/edges?pending=true')).body).toEqual({ edges: [{ ...pending, pending: true }] });
    await node('Building', 'Main office', { externalId: 'hq' });
    expect(await stats()).toMatchObject({ edgeCount: 1, pendingEdgeCount: 0, relations: { LOCATED_IN: 1 } });
    expect((await call('GET', '/crm/edges')).body).toEqual({ edges: [{ ...pending, from: 'hq' }] });
  });

  test('refuse a name of several nodes, naming them', async () => {
    await sync({ nodes: [1, 2].map((i) => ({ type: 'Person', name: 'Ada', externalId: `ada-${i}` })) });
    const refused = await edge(['ada-1', 'KNOWS', 'Ada']);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
    expect(pickText(refused.body, 'error', 'message')).toMatch(/^to "Ada" .*ada-1, ada-2/);
    const synced = await call('POST', '/crm/sync', {
      edges: [
        { from: 'ada-1', to: 'ada-2', relation: 'KNOWS' },
        { from: 'Ada', to: 'ada-2', relation: 'KNOWS' },
      ],
    });
    expect(pickText(synced.body, 'error', 'message')).toMatch(/^edges\[1\]\.from "Ada"/);
    expect(await stats()).toMatchObject({ edgeCount: 0 });
  });

  test.each([
    [{ to: 'x', relation: 'r' }, 'from is required.'],
    [{ from: 'x', relation: 'r' }, 'to is required.'],
    [{ from: 'x', to: 'x' }, 'relation is required.'],
  ])('refuses %j', async (body, message) => {
    expect(await call('POST', '/crm/edges', body)).toMatchObject({ status: 400, body: { error: { message } } });
  });

  test('go with their node', async () => {
    await sync(OFFICES);
    await traverse({ startNode: 'Bob', depth: 3 });
    await call('DELETE', '/crm/nodes/Ada');
    expect(await stats()).toMatchObject({ nodeCount: 3, edgeCount: 1, relations: { LOCATED_IN: 1 } });
    for (const on of [app, bare])
      expect(idsOf(await traverse({ startNode: 'Bob', depth: 3 }, on), 'nodes')).toEqual([]);
  });
});

test('answers that are written as bytes are as the contract says, and JSON by their type', async () => {
  await sync({
    nodes: [...OFFICES.nodes, { type: '"\\', name: '\n京\u2028"', externalId: 'odd', properties: { '"': '\u0001' } }],
    edges: [...OFFICES.edges, { from: 'odd', to: 'Ada', relation: '\t' }, { from: 'odd', to: 'later', relation: 'r' }],
  });
  const answers = [
    [contract.listGraphNodes, await call('GET', '/crm/nodes?limit=2')],
    [contract.listGraphEdges, await call('GET', '/crm/edges?limit=2')],
    [contract.listGraphEdges, await call('GET', '/crm/edges?pending=true')],
    [contract.searchGraph, await call('POST', '/crm/search', { query: '京' })],
    [contract.traverseGraph, await call('POST', '/crm/traverse', { startNode: 'odd', depth: 3 })],
  ] as const;
  for (const [{ response }, { status, headers, body }] of answers) {
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(compileValidator(response, 'body')(structuredClone(body))).toEqual({ value: body });
  }
  expect(answers[4][1].body).toMatchObject({
    startNodes: [{ objectType: '"\\', name: '\n京\u2028"', properties: { '"': '\u0001' } }],
    edges: [{ from: 'odd', to: 'Ada', relation: '\t' }, {}, {}, {}],
  });
});

describe('tenancy', () => {
  test("another developer's graph is as one that does not exist", async () => {
    await sync(OFFICES);
    const { key } = await app.createDeveloper();
    const foreign = (method: string, path: string, body?: unknown) =>
      app.call(method, `/v1/graph${path}`, { key, body });
    expect((await foreign('GET', '')).body).toEqual({ graphs: [] });
    expect(await foreign('GET', '/crm/stats')).toMatchObject({ status: 200, body: NO_STATS });
    expect((await foreign('GET', '/crm/nodes')).body).toEqual({ nodes: [], total: 0 });
    expect((await foreign('GET', '/crm/edges')).body).toEqual({ edges: [] });
    expect((await foreign('POST', '/crm/search', { query: 'Ada' })).body).toMatchObject({ nodes: [], total: 0 });
    expect((await foreign('POST', '/crm/traverse', { startNode: 'Ada' })).status).toBe(404);
    expect((await foreign('GET', '/crm/nodes/Ada')).status).toBe(404);
    expect((await foreign('DELETE', '/crm/nodes/Ada')).status).toBe(404);
    expect((await foreign('DELETE', '/crm')).status).toBe(404);
    expect((await foreign('POST', '/crm/nodes', { type: 't', name: 'mine' })).status).toBe(201);
    expect(await stats()).toMatchObject({ nodeCount: 4 });
  });

  test('graphs are listed, kept apart by id, and deleted with everything in them', async () => {
    await sync(OFFICES);
    await call('POST', '/erp/nodes', { type: 't', name: 'Ada' });
    const listed = (await call('GET', '')).body;
    expect(pick(listed, 'graphs')).toMatchObject([
      { appId: 'crm', nodeCount: 4 },
      { appId: 'erp', nodeCount: 1 },
    ]);
    expect(pick((await call('GET', '?app_id=erp')).body, 'graphs')).toMatchObject([{ appId: 'erp' }]);
    expect((await call('DELETE', '/crm')).body).toEqual({ success: true });
    expect(await call('GET', '/crm/stats')).toMatchObject({ status: 200, body: NO_STATS });
    for (const table of ['graph_nodes', 'graph_edges', 'graph_words', 'graph_pending_edges', 'graph_changes']) {
      const sql = `select count(*)::int as n from ${table} where developer_id = $1 and graph_no not in (select no from graphs)`;
      expect(await queryRows(app.databaseUrl, sql, [developer.id])).toEqual([{ n: 0 }]);
    }
  });
});
