import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { graphCalls, idsOf, OFFICES } from '../testing/graph-calls.ts';
import { pick, startTestApp, type TestApp } from '../testing/start-test-app.ts';
import { testDataFile } from '../testing/test-data.ts';

let app: TestApp;
/** Another process on the same database, whose answers come from the database alone. */
let bare: TestApp;
let developer: { id: string; key: string };

const { call, node, sync, traverse, search } = graphCalls(() => ({ app, developer }));

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

test('two processes agree after syncs that are too large to be told row by row', async () => {
  const other = await startTestApp({ DATABASE_URL: app.databaseUrl });
  try {
    for (let round = 0; round < 6; round++) {
      const names = Array.from({ length: 5000 }, (_, i) => `n${round}-${i}`);
      await sync({
        nodes: [{ type: 't', name: 'hub' }, ...names.map((name) => ({ type: 't', name }))],
        edges: names.map((name) => ({ from: name, to: 'hub', relation: `r${round}` })),
      });
      for (const on of [other, app]) {
        const found = await traverse({ startNode: 'hub', relation: `r${round}`, direction: 'incoming' }, on);
        expect(idsOf(found, 'nodes')).toHaveLength(5000);
        expect(pick(await search({ query: `n${round}-`, includeNeighbors: false }, on), 'total')).toBe(5000);
      }
    }
  } finally {
    await other.stop();
  }
});

const expected = testDataFile('graph/traverse-expected.jsonl');

function linesOf(name: string): Record<string, unknown>[] {
  const text = readFileSync(expected?.replace('traverse-expected', name) ?? '', 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe.runIf(expected)('traversals that an independent search has answered', () => {
  test('every one matches, from memory and from the database', { timeout: 120_000 }, async () => {
    await sync({ nodes: linesOf('codex-s.nodes'), edges: linesOf('codex-s.edges') });
    await traverse({ startNode: 'Q2071' });
    const wrong: unknown[] = [];
    for (const line of linesOf('traverse-expected')) {
      const { start: startNode, relation, direction, depth, visited } = line;
      const body = { startNode, direction, depth, ...(relation === null ? {} : { relation }) };
      // Both at once: while the database is at work for one, the other answers.
      const answers = await Promise.all([app, bare].map((on) => traverse(body, on)));
      for (const answer of answers) {
        const ids = idsOf(answer, 'nodes').toSorted();
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

  test('ranks the same name, a beginning, a word, a part, a similar name, words of properties', async () => {
    const names = ['Unlondoned', 'London Bridge', 'New London', 'Paris', 'Londno', 'London'];
    await sync({
      nodes: [
        ...names.map((name) => ({ type: 't', name })),
        { type: 't', name: 'x', properties: { near: ['the city of LONDON'] } },
      ],
    });
    const ranked = ['London', 'London_Bridge', 'New_London', 'Unlondoned', 'Londno', 'x'];
    expect(idsOf(await search({ query: 'london' }), 'nodes')).toEqual(ranked);
    expect(idsOf((await call('GET', '/crm/nodes?name=LONDON')).body, 'nodes')).toEqual(ranked.slice(0, -1));

    await node('t', 'Paris', { properties: { twin: 'London' } });
    await node('t', 'London Eye');
    await call('DELETE', '/crm/nodes/New_London');
    await node('t', 'Dublin', { externalId: 'Unlondoned' });
    const now = ['London', 'London_Eye', 'London_Bridge', 'Londno', 'Paris', 'x'];
    expect(idsOf(await search({ query: 'london' }), 'nodes')).toEqual(now);
  });

  test('finds Chinese names by a part and by a similar text', async () => {
    const names = ['北京市', '上海浦东国际机场', '北京大学', '大学'];
    await sync({ nodes: names.map((name) => ({ type: '地点', name, properties: { 简介: '这里是研究中心' } })) });
    expect(idsOf(await search({ query: '浦东' }), 'nodes')).toEqual(['上海浦东国际机场']);
    expect(idsOf(await search({ query: '大学' }), 'nodes')).toEqual(['大学', '北京大学']);
    expect(idsOf(await search({ query: '上海浦东机场' }), 'nodes')).toEqual(['上海浦东国际机场']);
    expect(idsOf(await search({ query: '研究中心' }), 'nodes')).toHaveLength(4);
  });

  test('ranks the same from the database, but for likeness of words', async () => {
    const names = ['Unlondoned', 'New-London', 'Londno', 'LONDON', 'Ärzte', '北京大学', '100%', 'a_b', 'axb'];
    await sync({
      nodes: [
        ...names.map((name, i) => ({ type: i % 2 === 0 ? 'even' : 'odd', name, properties: { group: { of: i % 3 } } })),
        { type: 'odd', name: 'x', properties: { near: 'the city of London' } },
      ],
    });
    const bodies = [
      { query: 'london' },
      { query: 'london', object_type: 'odd' },
      { query: 'london', properties: { group: { of: 0 } } },
      { query: 'ärzte' },
      { query: '大学' },
      { query: '%' },
      { query: 'a_b' },
      { object_type: 'even' },
      { query: ' ', properties: { group: { of: 1 } } },
    ];
    const found = await Promise.all(
      bodies.map(async (body) => {
        const [one, other] = await Promise.all([search(body), search(body, bare)]);
        expect(other).toEqual(one);
        return idsOf(one, 'nodes');
      }),
    );
    expect(found).toEqual([
      ['LONDON', 'New-London', 'Unlondoned', 'Londno', 'x'],
      ['LONDON', 'New-London', 'x'],
      ['LONDON', 'Unlondoned'],
      ['Ärzte'],
      ['北京大学'],
      ['100%'],
      ['a_b'],
      ['100%', 'Londno', 'Unlondoned', 'axb', 'Ärzte'],
      ['New-London', 'a_b', 'Ärzte'],
    ]);
  });

  test('counts what passes the filter, however many other nodes match better', async () => {
    const nodes = Array.from({ length: 11_000 }, (_, i) => ({ type: 'many', name: `a${i}` }));
    await sync({ nodes: [...nodes, { type: 'few', name: 'the last of all that has a', properties: { rare: true } }] });
    for (const on of [app, bare]) {
      const last = ['the_last_of_all_that_has_a'];
      expect(idsOf(await search({ query: 'a', object_type: 'few' }, on), 'nodes')).toEqual(last);
      expect(idsOf(await search({ query: 'a', properties: { rare: true } }, on), 'nodes')).toEqual(last);
      expect(idsOf(await search({ object_type: 'few' }, on), 'nodes')).toEqual(last);
      expect(idsOf(await search({ query: 'A77', limit: 1 }, on), 'nodes')).toEqual(['a77']);
      expect(pick(await search({ query: 'a' }, on), 'total')).toBe(10_000);
    }
  });

  test('is bounded around a hub, and says so', async () => {
    const nodes = Array.from({ length: 3000 }, (_, i) => ({ type: 't', name: `n${i}` }));
    await sync({ nodes, edges: nodes.map(({ name }) => ({ from: 'n0', to: name, relation: 'r' })) });
    for (const on of [app, bare]) {
      const found = await search({ query: 'n0', limit: 1 }, on);
      expect(idsOf(found, 'neighbors')).toHaveLength(1000);
      expect(pick(found, 'truncated')).toBe(true);
    }
  });
});
