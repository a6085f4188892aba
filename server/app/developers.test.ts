import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test('only admin keys of the first developer may administer', async () => {
  const other = await app.createDeveloper();
  for (const [method, path] of [
    ['POST', '/v1/admin/developers'],
    ['GET', '/v1/admin/developers'],
    ['PATCH', `/v1/admin/developers/${other.id}`],
  ] as const) {
    const body = method === 'GET' ? undefined : { name: 'x', tier: 'pro' };
    expect((await app.call(method, path, { key: other.key, body })).status).toBe(403);
  }
});

test('a new tier applies to the very next request', async () => {
  const { id, key } = await app.createDeveloper('free');
  expect((await app.call('GET', '/v1/tools', { key })).headers.get('x-ratelimit-limit')).toBe('10');
  await app.call('PATCH', `/v1/admin/developers/${id}`, { body: { tier: 'pro' } });
  expect((await app.call('GET', '/v1/tools', { key })).headers.get('x-ratelimit-limit')).toBe('500');
});

test('a developer who is switched off gets 401 until switched on again', async () => {
  const { id, key } = await app.createDeveloper();
  await app.call('PATCH', `/v1/admin/developers/${id}`, { body: { enabled: false } });
  expect((await app.call('GET', '/v1/tools', { key })).status).toBe(401);
  await app.call('PATCH', `/v1/admin/developers/${id}`, { body: { enabled: true } });
  expect((await app.call('GET', '/v1/tools', { key })).status).toBe(200);
});

test('the first developer cannot be switched off', async () => {
  const { body } = await app.call('GET', '/v1/admin/developers?limit=1');
  const id = pickText(body, 'developers', 0, 'id');
  const answer = await app.call('PATCH', `/v1/admin/developers/${id}`, { body: { enabled: false } });
  expect(answer).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
});

test.each([
  ['POST', {}, 'name'],
  ['POST', { name: '' }, 'name'],
  ['POST', { name: 'x', tier: 'gold' }, 'tier'],
  ['PATCH', {}, 'body'],
  ['PATCH', { tier: 'gold' }, 'tier'],
  ['PATCH', { tier: null }, 'tier'],
  ['PATCH', { enabled: 'no' }, 'enabled'],
])('%s %j is refused by name', async (method, body, field) => {
  const { id } = await app.createDeveloper();
  const answer = await app.call(method, `/v1/admin/developers${method === 'PATCH' ? `/${id}` : ''}`, { body });
  expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
  expect(pickText(answer.body, 'error', 'message')).toContain(field);
});

test('keys made while the tier changes carry the new one', async () => {
  const { id, key } = await app.createDeveloper('free');
  await Promise.all([
    app.call('PATCH', `/v1/admin/developers/${id}`, { body: { tier: 'pro' } }),
    ...Array.from({ length: 8 }, () => app.call('POST', '/v1/auth/api-keys', { key })),
  ]);
  const tiers = await queryRows(app.databaseUrl, 'select distinct tier from api_keys where developer_id = $1', [id]);
  expect(tiers).toEqual([{ tier: 'pro' }]);
});

test.each(['nonsense', 'dev_', '%27%20or%201=1--', '%ff', 'x'.repeat(5000)])(
  'the cursor %s harms nothing',
  async (cursor) => {
    expect((await app.call('GET', `/v1/admin/developers?cursor=${cursor}`)).status).toBe(200);
  },
);

test('a cursor with U+0000 is refused', async () => {
  expect((await app.call('GET', '/v1/admin/developers?cursor=%00')).status).toBe(400);
});

test('the last page, however full, names no next one', async () => {
  const total = Number(pick((await app.call('GET', '/v1/admin/developers')).body, 'total'));
  const { body } = await app.call('GET', `/v1/admin/developers?limit=${total}`);
  expect(body).not.toHaveProperty('nextCursor');
  const all = await app.call('GET', `/v1/admin/developers?limit=${total - 1}`);
  expect(all.body).toHaveProperty('nextCursor');
});

test('pages hold every developer once', async () => {
  const { body } = await app.call('GET', '/v1/admin/developers');
  const total = Number(pick(body, 'total'));
  const seen = new Set<string>();
  let cursor = '';
  do {
    const page = (await app.call('GET', `/v1/admin/developers?limit=3${cursor && `&cursor=${cursor}`}`)).body;
    const developers = pick(page, 'developers');
    if (!Array.isArray(developers)) throw new Error('no developers');
    for (const developer of developers) seen.add(pickText(developer, 'id'));
    cursor = JSON.stringify(page).includes('nextCursor') ? pickText(page, 'nextCursor') : '';
  } while (cursor !== '');
  expect(seen.size).toBe(total);
});
