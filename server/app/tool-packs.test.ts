import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
let developer: { id: string; key: string };

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
beforeEach(async () => {
  developer = await app.createDeveloper();
});

function call(method: string, path: string, body?: unknown, key = developer.key) {
  return app.call(method, `/v1/tools/packs${path}`, { key, body });
}

const ORDERS = {
  id: 'orders/ü',
  name: 'Order tools',
  nameZh: '订单工具',
  description: 'Reads orders.',
  tools: ['get_order', 'not_yet_there'],
  knowledge: 'Shipped orders stay.',
};

test('a pack is created, read, changed, published, listed and deleted', async () => {
  const { id, ...rest } = ORDERS;
  const created = await call('POST', '', ORDERS);
  expect(created.status).toBe(201);
  const record = {
    _id: expect.stringMatching(/^pack_/),
    packId: id,
    ...rest,
    status: 'draft',
    createdAt: expect.any(String),
  };
  expect(created.body).toEqual(record);
  const path = `/${encodeURIComponent(id)}`;
  expect((await call('GET', path)).body).toEqual(record);

  const changed = await call('PUT', path, { tools: [], knowledge: '' });
  expect(changed).toMatchObject({ status: 200, body: { ...record, tools: [], knowledge: '' } });
  expect(await call('POST', `${path}/publish`)).toMatchObject({
    status: 200,
    body: { success: true, status: 'published' },
  });
  expect((await call('GET', '')).body).toEqual({
    packs: [
      {
        _id: pick(created.body, '_id'),
        packId: id,
        name: 'Order tools',
        nameZh: '订单工具',
        tools: [],
        status: 'published',
      },
    ],
  });
  expect((await call('PUT', path, { status: 'draft' })).body).toMatchObject({ status: 'draft', name: 'Order tools' });
  expect((await call('DELETE', path)).body).toEqual({ success: true });
  expect((await call('GET', path)).status).toBe(404);
  expect((await call('GET', '')).body).toEqual({ packs: [] });
});

test('a pack of an id and a name alone has all the other fields, empty', async () => {
  expect((await call('POST', '', { id: 'a', name: 'A' })).body).toEqual({
    _id: expect.any(String),
    packId: 'a',
    name: 'A',
    nameZh: '',
    description: '',
    tools: [],
    knowledge: '',
    status: 'draft',
    createdAt: expect.any(String),
  });
});

test('an id that is taken is refused by name, and the pack stays as it was', async () => {
  const answers = await Promise.all([call('POST', '', ORDERS), call('POST', '', ORDERS)]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
  const refused = answers.find(({ status }) => status === 409)?.body;
  expect(pick(refused, 'error', 'code')).toBe('CONFLICT');
  expect(pickText(refused, 'error', 'message')).toContain('"orders/ü"');
});

test.each([
  [{ name: 'A' }, 'id'],
  [{ id: 'a' }, 'name'],
  [{ id: '', name: 'A' }, 'id'],
  [{ id: '..', name: 'A' }, 'id'],
  [{ id: ' ', name: 'A' }, 'id'],
  [{ id: 'a', name: 'A', tools: 'get_order' }, 'tools'],
  [{ id: 'a', name: 'A', tools: ['ok', 7] }, 'tools[1]'],
])('%j is refused by name', async (body, field) => {
  const { status, body: answer } = await call('POST', '', body);
  expect(status).toBe(400);
  expect(pickText(answer, 'error', 'message')).toContain(field);
});

test('a foreign pack is as an absent one, and its id is free', async () => {
  await call('POST', '', { id: 'mine', name: 'Mine' });
  const { key } = await app.createDeveloper();
  for (const [method, path, body] of [
    ['GET', '/mine', undefined],
    ['PUT', '/mine', { name: 'Stolen' }],
    ['DELETE', '/mine', undefined],
    ['POST', '/mine/publish', undefined],
  ] as const) {
    const [foreign, absent] = [
      await call(method, path, body, key),
      await call(method, path.replace('mine', 'none'), body),
    ];
    expect(foreign.status).toBe(404);
    expect(JSON.stringify(pick(foreign.body, 'error', 'message')).replace('mine', 'none')).toBe(
      JSON.stringify(pick(absent.body, 'error', 'message')),
    );
  }
  expect((await call('GET', '', undefined, key)).body).toEqual({ packs: [] });
  expect((await call('POST', '', { id: 'mine', name: 'Theirs' }, key)).status).toBe(201);
  expect((await call('GET', '/mine')).body).toMatchObject({ name: 'Mine', status: 'draft' });
});

test('a key that may only read lists packs and changes none', async () => {
  await call('POST', '', { id: 'a', name: 'A' });
  const { key } = await app.createKey(developer.key, ['read']);
  expect((await call('GET', '', undefined, key)).status).toBe(200);
  expect((await call('GET', '/a', undefined, key)).status).toBe(200);
  for (const [method, path, body] of [
    ['POST', '', { id: 'b', name: 'B' }],
    ['PUT', '/a', { name: 'B' }],
    ['DELETE', '/a', undefined],
    ['POST', '/a/publish', undefined],
  ] as const) {
    expect((await call(method, path, body, key)).status).toBe(403);
  }
});

test('pages follow each other without a gap, and end', async () => {
  for (const id of ['c', 'a', 'B', '中', 'b']) await call('POST', '', { id, name: id });
  const seen: string[] = [];
  const members: string[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await call(
      'GET',
      `?limit=2${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    const packs = pick(body, 'packs');
    if (!Array.isArray(packs)) throw new Error('no packs');
    seen.push(...packs.map((pack) => pickText(pack, 'packId')));
    const names = Object.keys(Object(body)).join();
    members.push(names);
    cursor = names.includes('nextCursor') ? pickText(body, 'nextCursor') : undefined;
  } while (cursor !== undefined);
  expect(members).toEqual(['packs,nextCursor', 'packs,nextCursor', 'packs']);
  expect(seen).toEqual(['B', 'a', 'b', 'c', '中']);
});
