import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';
import { testDataFile } from '../testing/test-data.ts';

let app: TestApp;
/** Another process on the same database, whose answers come from the database alone. */
let bare: TestApp;
let developer: { id: string; key: string };

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

function call(method: string, path: string, body?: unknown) {
  return app.call(method, `/v1/graph${path}`, { key: developer.key, body });
}

function node(type: string, name: string, more: object = {}) {
  return call('POST', '/crm/nodes', { type, name, ...more });
}

function edge(from: string, relation: string, to: string, more: object = {}) {
  return call('POST', '/crm/edges', { from, to, relation, ...more });
}

async function sync(body: object): Promise<unknown> {
  const answer = await call('POST', '/crm/sync', body);
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  return answer.body;
}

async function stats(): Promise<unknown> {
  return (await call('GET', '/crm/stats')).body;
}

function idsOf(body: unknown, list: string): string[] {
  const found = pick(body, list);
  return Array.isArray(found) ? found.map((item) => pickText(item, 'externalId')) : [];
}

async function traverse(body: object, on: TestApp = app): Promise<unknown> {
  const answer = await on.call('POST', '/v1/graph/crm/traverse', { key: developer.key, body });
  expect(answer.status).toBe(200);
  return answer.body;
}

async function search(body: object): Promise<unknown> {
  return (await call('POST', '/crm/search', body)).body;
}

const OFFICES = {
  nodes: [
    { type: 'City', name: 'Berlin', properties: { country: 'Germany' } },
    { type: 'Building', name: 'Main office', externalId: 'hq' },
    { type: 'Person', name: 'Ada', properties: { skills: ['graphs'], address: { floor: 3 } } },
    { type: 'Person', name: 'Bob' },
  ],
  edges: [
    { from: 'hq', to: 'Berlin', relation: 'LOCATED_IN', properties: { since: 1999 } },
    { from: 'Ada', to: 'Main office', relation: 'WORKS_IN' },
    { from: 'Bob', to: 'Ada', relation: 'REPORTS_TO' },
  ],
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
    const created = await edge('Ada', 'WORKS_IN', 'Main office', { properties: { days: 3 } });
    const stored = { appId: 'crm', from: 'Ada', to: 'hq', relation: 'WORKS_IN', properties: { days: 3 } };
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual(stored);
    expect((await edge('Ada', 'WORKS_IN', 'hq')).body).toEqual(stored);
    expect((await edge('Ada', 'OWNS', 'hq')).status).toBe(201);
    expect((await edge('Ada', 'KNOWS', 'Ada')).status).toBe(201);
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
    expect((await edge('Main office', 'LOCATED_IN', 'Berlin')).body).toEqual({ ...pending, pending: true });
    expect((await edge('Main office', 'LOCATED_IN', 'Berlin')).status).toBe(201);
    await node('City', 'Berlin');
    expect(await stats()).toMatchObject({ edgeCount: 0, pendingEdgeCount: 1 });
    expect((await call('GET', '/crm/edges?pending=true')).body).toEqual({ edges: [{ ...pending, pending: true }] });
    await node('Building', 'Main office', { externalId: 'hq' });
    expect(await stats()).toMatchObject({ edgeCount: 1, pendingEdgeCount: 0, relations: { LOCATED_IN: 1 } });
    expect((await call('GET', '/crm/edges')).body).toEqual({ edges: [{ ...pending, from: 'hq' }] });
  });

  test('refuse a name of several nodes, naming them', async () => {
    await sync({ nodes: [1, 2].map((i) => ({ type: 'Person', name: 'Ada', externalId: `ada-${i}` })) });
    const refused = await edge('ada-1', 'KNOWS', 'Ada');
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

describe('sync', () => {
  test('changes nothing when it is repeated, and says what it holds', async () => {
    expect(await sync(OFFICES)).toEqual({ success: true, nodesWritten: 4, edgesWritten: 3 });
    const before = await stats();
    const rows = await queryRows(app.databaseUrl, 'select counter from graphs where developer_id = $1', [developer.id]);
    expect(await sync(OFFICES)).toEqual({ success: true, nodesWritten: 4, edgesWritten: 3 });
    expect(await stats()).toEqual(before);
    expect(
      await queryRows(app.databaseUrl, 'select counter from graphs where developer_id = $1', [developer.id]),
    ).toEqual(rows);
    expect(before).toEqual({
      appId: 'crm',
      nodeCount: 4,
      edgeCount: 3,
      pendingEdgeCount: 0,
      objectTypes: { Building: 1, City: 1, Person: 2 },
      relations: { LOCATED_IN: 1, REPORTS_TO: 1, WORKS_IN: 1 },
    });
  });

  test('does not depend on the order', async () => {
    // Both at once: nodes that are new, and edges that wait for others.
    await sync({ nodes: [{ type: 't', name: 'x' }], edges: OFFICES.edges });
    await call('DELETE', '/crm/nodes/x');
    await sync({ edges: OFFICES.edges });
    expect(await stats()).toMatchObject({ nodeCount: 0, edgeCount: 0, pendingEdgeCount: 3 });
    await sync({ nodes: OFFICES.nodes.toReversed() });
    expect(await stats()).toMatchObject({ nodeCount: 4, edgeCount: 3, pendingEdgeCount: 0 });
    await sync({ edges: OFFICES.edges.toReversed() });
    expect(await stats()).toMatchObject({ nodeCount: 4, edgeCount: 3, pendingEdgeCount: 0 });
  });

  test('takes the last of items that name the same', async () => {
    await sync({
      nodes: [
        { type: 'a', name: 'x', properties: { n: 1 } },
        { type: 'b', name: 'x' },
      ],
      edges: [
        { from: 'x', to: 'x', relation: 'r', properties: { n: 1 } },
        { from: 'x', to: 'x', relation: 'r' },
      ],
    });
    expect((await call('GET', '/crm/nodes/x')).body).toMatchObject({ objectType: 'b', properties: { n: 1 } });
    expect(pick((await call('GET', '/crm/edges')).body, 'edges')).toMatchObject([{ properties: { n: 1 } }]);
  });

  test('writes all or nothing, and names the item', async () => {
    const refused = await call('POST', '/crm/sync', { nodes: [{ type: 't', name: 'a' }, { type: 't' }] });
    const message = 'nodes[1].name is required.';
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST', message } } });
    expect((await call('GET', '/crm/stats')).status).toBe(404);
    expect(await call('POST', '/crm/sync', { edges: 'none' })).toMatchObject({
      status: 400,
      body: { error: { message: 'edges must be an array.' } },
    });
    const hidden = await call('POST', '/crm/sync', `{"nodes":[{"type":"t","name":"a","properties":{"__proto__":1}}]}`);
    expect(hidden).toMatchObject({ status: 400, body: { error: { code: 'INVALID_JSON' } } });
  });

  test('takes large bodies, and refuses a wrong item in one', async () => {
    const nodes = Array.from({ length: 30_000 }, (_, i) => ({ type: 't', name: `node ${i}`, properties: { i } }));
    const edges = Array.from({ length: 60_000 }, (_, i) => ({
      from: `node_${i % 30_000}`,
      to: `node_${(i * 7) % 30_000}`,
      relation: i < 30_000 ? 'A' : 'B',
    }));
    const wrong = await call('POST', '/crm/sync', { nodes: [...nodes, { type: 't', name: '' }], edges });
    expect(pickText(wrong.body, 'error', 'message')).toBe('nodes[30000].name must not be empty.');
    const counts = { nodesWritten: 30_000, edgesWritten: 60_000 };
    expect(await sync({ nodes, edges })).toEqual({ success: true, ...counts });
    const held = { nodeCount: 30_000, edgeCount: 60_000, relations: { A: 30_000, B: 30_000 } };
    expect(await stats()).toMatchObject(held);
    expect(await sync({ nodes, edges })).toEqual({ success: true, ...counts });
    expect(await stats()).toMatchObject(held);
    const events = await queryRows(
      app.databaseUrl,
      `select data from outbox_events where developer_id = $1 and type = 'graph.synced'`,
      [developer.id],
    );
    expect(events).toEqual([{ data: { graphId: 'crm', ...counts } }, { data: { graphId: 'crm', ...counts } }]);
  });

  test('counts exactly when several run at once', async () => {
    const parts = Array.from({ length: 8 }, (_, part) => ({
      nodes: Array.from({ length: 300 }, (_, i) => ({ type: 't', name: `n${(part * 150 + i) % 900}` })),
      edges: Array.from({ length: 300 }, (_, i) => ({
        from: `n${i}`,
        to: `n${(part * 150 + i) % 900}`,
        relation: 'r',
      })),
    }));
    await Promise.all(parts.map((part) => sync(part)));
    const once = await stats();
    const edges = new Set(parts.flatMap((part) => part.edges.map(({ from, to }) => `${from} ${to}`)));
    expect(once).toMatchObject({
      nodeCount: 900,
      edgeCount: edges.size,
      pendingEdgeCount: 0,
      relations: { r: edges.size },
    });
    await Promise.all(parts.map((part) => sync(part)));
    expect(await stats()).toEqual(once);
  });
});

describe('traversal', () => {
  test('tells nodes, edges and paths', async () => {
    await sync(OFFICES);
    for (const on of [app, bare]) {
      expect(await traverse({ startNode: 'Ada', depth: 2, direction: 'outgoing' }, on)).toEqual({
        startNode: 'Ada',
        startNodes: [
          {
            appId: 'crm',
            objectType: 'Person',
            name: 'Ada',
            externalId: 'Ada',
            properties: { skills: ['graphs'], address: { floor: 3 } },
          },
        ],
        nodes: [
          { appId: 'crm', objectType: 'Building', name: 'Main office', externalId: 'hq', properties: {}, depth: 1 },
          {
            appId: 'crm',
            objectType: 'City',
            name: 'Berlin',
            externalId: 'Berlin',
            properties: { country: 'Germany' },
            depth: 2,
          },
        ],
        edges: [
          { from: 'Ada', to: 'hq', relation: 'WORKS_IN', properties: {} },
          { from: 'hq', to: 'Berlin', relation: 'LOCATED_IN', properties: { since: 1999 } },
        ],
        paths: [
          { nodes: ['Ada', 'hq'], relations: ['WORKS_IN'] },
          { nodes: ['Ada', 'hq', 'Berlin'], relations: ['WORKS_IN', 'LOCATED_IN'] },
        ],
        truncated: false,
      });
      expect(idsOf(await traverse({ startNode: 'Ada' }, on), 'nodes').toSorted()).toEqual(['Bob', 'hq']);
      expect(idsOf(await traverse({ startNode: 'Ada', direction: 'incoming' }, on), 'nodes')).toEqual(['Bob']);
      expect(idsOf(await traverse({ startNode: 'Ada', relation: 'WORKS_IN' }, on), 'nodes')).toEqual(['hq']);
      expect(idsOf(await traverse({ startNode: 'Ada', relation: 'NONE' }, on), 'nodes')).toEqual([]);
    }
  });

  test('starts from every node of a name, and tells a self loop and parallel edges once', async () => {
    await sync({
      nodes: [1, 2].map((i) => ({ type: 'Person', name: 'Ada', externalId: `ada-${i}` })),
      edges: [
        { from: 'ada-1', to: 'ada-1', relation: 'KNOWS' },
        { from: 'ada-1', to: 'ada-2', relation: 'KNOWS' },
        { from: 'ada-1', to: 'ada-2', relation: 'HELPS' },
      ],
    });
    for (const on of [app, bare]) {
      const all = await traverse({ startNode: 'Ada', depth: 3 }, on);
      expect(idsOf(all, 'startNodes')).toEqual(['ada-1', 'ada-2']);
      expect(pick(all, 'nodes')).toEqual([]);
      expect(pick(all, 'edges')).toHaveLength(3);
    }
  });

  test.each([
    [{}, 400, 'startNode is required.'],
    [{ startNode: 'Ada', depth: 4 }, 400, 'depth must be <= 3.'],
    [{ startNode: 'Ada', direction: 'up' }, 400, 'direction must be one of outgoing, incoming, both.'],
    [{ startNode: 'Nobody' }, 404, 'There is no node "Nobody" in the graph.'],
  ])('refuses %j with %i', async (body, status, message) => {
    await sync(OFFICES);
    expect(await call('POST', '/crm/traverse', body)).toMatchObject({ status, body: { error: { message } } });
  });

  test('is cut at 10,000 nodes of a hub', async () => {
    const nodes = Array.from({ length: 12_000 }, (_, i) => ({ type: 't', name: `n${i}` }));
    await sync({ nodes, edges: nodes.map(({ name }) => ({ from: 'n0', to: name, relation: 'r' })) });
    for (const on of [app, bare]) {
      const found = await traverse({ startNode: 'n0', depth: 2 }, on);
      expect({ nodes: idsOf(found, 'nodes').length, truncated: pick(found, 'truncated') }).toEqual({
        nodes: 10_000,
        truncated: true,
      });
    }
  });

  test('two processes agree on the very next request', async () => {
    await sync(OFFICES);
    const other = await startTestApp({ DATABASE_URL: app.databaseUrl });
    try {
      for (let i = 0; i < 40; i++) {
        const [writer, reader] = i % 2 === 0 ? [app, other] : [other, app];
        const body = { from: 'Ada', to: `n${i}`, relation: 'r' };
        const request = { key: developer.key };
        await writer.call('POST', '/v1/graph/crm/nodes', { ...request, body: { type: 't', name: `n${i}` } });
        await writer.call('POST', '/v1/graph/crm/edges', { ...request, body });
        expect(idsOf(await traverse({ startNode: 'Ada', relation: 'r' }, reader), 'nodes')).toHaveLength(i + 1);
      }
    } finally {
      await other.stop();
    }
  });
});

const expected = testDataFile('graph/traverse-expected.jsonl');

describe.runIf(expected)('traversals that an independent search has answered', () => {
  function linesOf(name: string): Record<string, unknown>[] {
    const text = readFileSync(expected?.replace('traverse-expected', name) ?? '', 'utf8');
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  test('every one matches, from memory and from the database', { timeout: 120_000 }, async () => {
    await sync({ nodes: linesOf('codex-s.nodes'), edges: linesOf('codex-s.edges') });
    await traverse({ startNode: 'Q2071' });
    const wrong: unknown[] = [];
    for (const line of linesOf('traverse-expected')) {
      const { start: startNode, relation, direction, depth, visited } = line;
      const body = { startNode, direction, depth, ...(relation === null ? {} : { relation }) };
      for (const on of [app, bare]) {
        const ids = idsOf(await traverse(body, on), 'nodes').toSorted();
        const hash = createHash('sha256').update(ids.join('\n')).digest('hex');
        if (ids.length !== visited || hash !== line['sha256_of_sorted_ids_joined_by_newline']) wrong.push(line);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('search', () => {
  test('finds by name and by properties, with what is around', async () => {
    await sync(OFFICES);
    const found = await search({ query: 'ada' });
    expect(idsOf(found, 'nodes')).toEqual(['Ada']);
    expect(idsOf(found, 'neighbors').toSorted()).toEqual(['Bob', 'hq']);
    expect(pick(found, 'edges')).toEqual([
      { appId: 'crm', from: 'Ada', to: 'hq', relation: 'WORKS_IN', properties: {} },
      { appId: 'crm', from: 'Bob', to: 'Ada', relation: 'REPORTS_TO', properties: {} },
    ]);
    expect(await search({ query: 'ada', includeNeighbors: false })).toMatchObject({
      neighbors: [],
      edges: [],
      total: 1,
    });
    expect(idsOf(await search({ query: 'germany' }), 'nodes')).toEqual(['Berlin']);
    expect(idsOf(await search({ query: 'a', object_type: 'Person' }), 'nodes')).toContain('Ada');
    expect(idsOf(await search({ properties: { country: 'Germany' } }), 'nodes')).toEqual(['Berlin']);
    expect(pick(await search({ limit: 2 }), 'total')).toBe(4);
    expect(await search({ query: 'nothing like it' })).toMatchObject({ nodes: [], total: 0 });
  });
});

describe('tenancy', () => {
  test("another developer's graph is as one that does not exist", async () => {
    await sync(OFFICES);
    const { key } = await app.createDeveloper();
    const foreign = (method: string, path: string, body?: unknown) =>
      app.call(method, `/v1/graph${path}`, { key, body });
    expect((await foreign('GET', '')).body).toEqual({ graphs: [] });
    expect((await foreign('GET', '/crm/stats')).status).toBe(404);
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
    expect((await call('GET', '/crm/stats')).status).toBe(404);
    for (const table of ['graph_nodes', 'graph_edges', 'graph_words', 'graph_pending_edges', 'graph_changes']) {
      const sql = `select count(*)::int as n from ${table} where developer_id = $1 and graph_no not in (select no from graphs)`;
      expect(await queryRows(app.databaseUrl, sql, [developer.id])).toEqual([{ n: 0 }]);
    }
  });
});
