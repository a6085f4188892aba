import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { graphCalls, OFFICES } from '../testing/graph-calls.ts';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
let developer: { id: string; key: string };

const { call, sync, stats } = graphCalls(() => ({ app, developer }));

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => {
  await app.stop();
});
beforeEach(async () => {
  developer = await app.createDeveloper();
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
    expect((await call('GET', '')).body).toEqual({ graphs: [] });
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
    const parts = Array.from({ length: 8 }, (_unused, part) => ({
      nodes: Array.from({ length: 300 }, (_none, i) => ({ type: 't', name: `n${(part * 150 + i) % 900}` })),
      edges: Array.from({ length: 300 }, (_none, i) => ({
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

  test('of a graph that is locked for long leaves connections to everybody else', async () => {
    await sync(OFFICES);
    const lock = `begin; select from graphs where developer_id = '${developer.id}' for update; select pg_sleep(3); commit`;
    const locked = queryRows(app.databaseUrl, lock);
    const isLocked = async (): Promise<unknown> =>
      queryRows(app.databaseUrl, `select from graphs where developer_id = $1 for update skip locked`, [developer.id]);
    await expect.poll(isLocked).toEqual([]);
    const writes = Array.from({ length: 40 }, (_, i) => call('POST', '/crm/nodes', { type: 't', name: `n${i}` }));
    const first = await Promise.race([
      Promise.any(writes).then(() => 'a write'),
      Promise.all(Array.from({ length: 20 }, () => stats())).then(() => 'the reads'),
    ]);
    expect(first).toBe('the reads');
    await locked;
    expect((await Promise.all(writes)).every(({ status }) => status === 201)).toBe(true);
    expect(await stats()).toMatchObject({ nodeCount: 44 });
  });
});
