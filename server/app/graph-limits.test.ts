import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GRAPH_LIMITS } from '../../contract/shared/graph-shapes.ts';
import { graphCalls, idsOf } from '../testing/graph-calls.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
/** Another process on the same database, whose answers come from the database alone. */
let bare: TestApp;
let developer: { id: string; key: string };

const { call, sync, stats, traverse, search } = graphCalls(() => ({ app, developer }));

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

describe('large bodies', () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Announces a body of so many bytes and sends none of it; gives what is answered up to the wanted text. */
  async function announce(key: string, bytes: number, wanted: string): Promise<string> {
    const { hostname, port } = new URL(app.url);
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.push(socket);
    socket.write(
      `POST /v1/graph/crm/sync HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
        `Expect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`,
    );
    let answer = '';
    while (!answer.includes(wanted)) answer += String((await once(socket, 'data'))[0]);
    return answer;
  }

  test('beyond 64 MB are refused before they arrive', async () => {
    const answer = await announce(developer.key, GRAPH_LIMITS.syncBytes + 1, '\r\n\r\n{');
    expect(answer).toContain(' 413 ');
    expect(answer).toContain('PAYLOAD_TOO_LARGE');
  });

  test('share a room of 256 MB, of which a developer has 192; small ones pass', { timeout: 60_000 }, async () => {
    const other = await app.createDeveloper();
    // So that the keys are known, and each request below is settled when it is told to continue.
    await call('GET', '');
    await app.call('GET', '/v1/graph', { key: other.key });
    const held = await Promise.all(
      [developer, developer, developer, other].map(({ key }) => announce(key, GRAPH_LIMITS.syncBytes, '100 Continue')),
    );
    expect(held.some((answer) => answer.includes('503'))).toBe(false);
    for (const { key } of [developer, other]) {
      const refused = await announce(key, GRAPH_LIMITS.syncBytes, '\r\n\r\n{');
      expect(refused).toContain(' 503 ');
      expect(refused).toMatch(/\r\nretry-after: 5\r\n/i);
      expect(refused).toContain('Too many large bodies are being received or stored; send it again in a while.');
    }
    await sync({ nodes: [{ type: 't', name: 'small' }] });

    const large = { nodes: [{ type: 't', name: 'large', properties: { text: 'x'.repeat(300_000) } }] };
    expect((await call('POST', '/crm/sync', large)).status).toBe(503);
    for (const socket of sockets.splice(0)) socket.destroy();
    // What was held is let go when the service has seen that its senders left.
    await expect.poll(async () => (await call('POST', '/crm/sync', large)).status, { timeout: 30_000 }).toBe(200);
  });

  test('may come in chunks of unknown number', async () => {
    const text = JSON.stringify({
      nodes: Array.from({ length: 5000 }, (_, i) => ({
        type: 't',
        name: `n${i}`,
        properties: { text: '京'.repeat(50) },
      })),
    });
    const bytes = Buffer.from(text);
    const chunks = new ReadableStream({
      start: (controller) => {
        for (let at = 0; at < bytes.length; at += 10_000) controller.enqueue(bytes.subarray(at, at + 10_000));
        controller.close();
      },
    });
    const answer = await fetch(`${app.url}/v1/graph/crm/sync`, {
      method: 'POST',
      headers: { 'x-api-key': developer.key, 'content-type': 'application/json' },
      body: chunks,
      duplex: 'half',
    });
    expect(await answer.json()).toEqual({ success: true, nodesWritten: 5000, edgesWritten: 0 });
  });

  test('of another type are refused', async () => {
    const headers = { 'content-type': 'text/plain' };
    const plain = await app.call('POST', '/v1/graph/crm/sync', { key: developer.key, body: 'x', headers });
    expect(plain).toMatchObject({ status: 415, body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } } });
  });
});

describe('properties of a megabyte', () => {
  const text = 'x'.repeat(1_000_000);

  test('are stored and told as they are', async () => {
    const properties = { text, list: [1, 2.5, null], 京: '\u2028"\\\n' };
    expect((await call('POST', '/crm/nodes', { type: 't', name: 'a', properties })).status).toBe(201);
    await call('POST', '/crm/edges', { from: 'a', to: 'a', relation: 'r', properties });
    for (const on of [app, bare]) {
      const found = await traverse({ startNode: 'a' }, on);
      expect(pick(found, 'startNodes', 0, 'properties')).toEqual(properties);
      expect(pick(found, 'edges', 0, 'properties')).toEqual(properties);
      expect(pick(await search({ query: 'a' }, on), 'nodes', 0, 'properties')).toEqual(properties);
    }
  });

  test('fill an answer up to 16 MB; it says so, and a page of a list ends early', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `n${String(i).padStart(2, '0')}`);
    await sync({
      nodes: [{ type: 't', name: 'hub' }, ...names.map((name) => ({ type: 't', name, properties: { text } }))],
      edges: names.map((name) => ({ from: 'hub', to: name, relation: 'r', properties: { text } })),
    });
    const ends: string[] = [];
    for (let cursor = ''; ;) {
      const page = (await call('GET', `/crm/edges${cursor}`)).body;
      const edges = pick(page, 'edges');
      for (let i = 0; Array.isArray(edges) && i < edges.length; i++) {
        expect(pick(edges, i, 'properties')).toEqual({ text });
        ends.push(pickText(edges, i, 'to'));
      }
      if (typeof page !== 'object' || page === null || !('nextCursor' in page)) break;
      expect(edges).toHaveLength(16);
      cursor = `?cursor=${pickText(page, 'nextCursor')}`;
    }
    expect(ends.toSorted()).toEqual(names);
    for (const on of [app, bare]) {
      const found = await traverse({ startNode: 'hub' }, on);
      expect(idsOf(found, 'nodes').toSorted()).toEqual(names);
      const sizes = (list: string) =>
        Array.from({ length: 20 }, (_, i) => JSON.stringify(pick(found, list, i, 'properties')).length);
      expect(sizes('nodes').filter((size) => size > 2)).toHaveLength(16);
      expect(sizes('edges').filter((size) => size > 2)).toHaveLength(16);
      expect(pick(found, 'truncated')).toBe(true);
      for (const path of ['/v1/graph/crm/nodes?object_type=t', '/v1/graph/crm/nodes?name=n']) {
        const first = (await on.call('GET', path, { key: developer.key })).body;
        const next = `${path}&cursor=${encodeURIComponent(pickText(first, 'nextCursor'))}`;
        const second = (await on.call('GET', next, { key: developer.key })).body;
        const ids = [...idsOf(first, 'nodes'), ...idsOf(second, 'nodes')];
        expect(ids.filter((id) => id !== 'hub')).toEqual(names);
        expect(pick(second, 'nodes', 0, 'properties')).toEqual({ text });
      }
    }
  });
});

async function counts(body: object, on: TestApp): Promise<unknown> {
  const found = await traverse(body, on);
  return [idsOf(found, 'nodes').length, pick(found, 'truncated')];
}

test('a hub of 100,000 edges answers, cut and saying so, and takes changes', { timeout: 120_000 }, async () => {
  const names = Array.from({ length: 100_000 }, (_, i) => `n${i}`);
  await sync({
    nodes: ['hub', ...names].map((name) => ({ type: 't', name })),
    edges: [
      ...names.map((name) => ({ from: 'hub', to: name, relation: 'HAS' })),
      { from: 'n7', to: 'hub', relation: 'RARE' },
    ],
  });
  for (const on of [app, bare]) {
    expect(await counts({ startNode: 'hub' }, on)).toEqual([10_000, true]);
    expect(await counts({ startNode: 'n1', depth: 3 }, on)).toEqual([10_000, true]);
    expect(await counts({ startNode: 'hub', relation: 'RARE', depth: 3 }, on)).toEqual([1, false]);
    expect(await counts({ startNode: 'hub', direction: 'incoming' }, on)).toEqual([1, false]);
    const found = await search({ query: 'hub' }, on);
    expect([idsOf(found, 'neighbors').length, pick(found, 'truncated')]).toEqual([1000, true]);
  }
  expect(pick((await call('GET', '/crm/edges?from=hub&limit=1000')).body, 'edges')).toHaveLength(1000);
  await call('POST', '/crm/edges', { from: 'hub', to: 'n7', relation: 'RARE' });
  for (const on of [app, bare]) expect(await counts({ startNode: 'n7', relation: 'RARE' }, on)).toEqual([1, false]);
  expect((await call('DELETE', '/crm/nodes/hub')).status).toBe(200);
  expect(await stats()).toMatchObject({ nodeCount: 100_000, edgeCount: 0, relations: {} });
  for (const on of [app, bare]) expect(await counts({ startNode: 'n7', depth: 3 }, on)).toEqual([0, false]);
});
