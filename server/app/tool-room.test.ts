import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

/** Tools written past the service; each has a schema of so many characters. */
async function fill(developerId: string, count: number, length: number): Promise<void> {
  await queryRows(
    app.databaseUrl,
    `insert into tools (developer_id, name, id, description, input_schema)
     select $1, 'filler_' || i, 'tool_' || $1 || i, '', json_build_object('description', repeat('x', $3))
     from generate_series(1, $2::int) i`,
    [developerId, count, length],
  );
}

const OVER = { status: 409, body: { error: { code: 'CONFLICT' } } };

test('tools are as many as fit in memory', async () => {
  const { id, key } = await app.createDeveloper();
  await fill(id, 9999, 10);
  const register = (name: string) => app.call('POST', '/v1/tools', { key, body: { name, description: 'x' } });
  expect((await register('the_last')).status).toBe(201);
  expect(await register('one_more')).toMatchObject(OVER);
  expect((await app.call('GET', '/v1/tools/one_more', { key })).status).toBe(404);
  expect(await register('the_last')).toMatchObject({ status: 201, body: { updated: true } });
  await app.call('DELETE', '/v1/tools/the_last', { key });
  expect((await register('one_more')).status).toBe(201);
});

test('tools are as large as fit in memory', async () => {
  const { id, key } = await app.createDeveloper();
  await fill(id, 1024, 65_500);
  const large = { type: 'object', description: 'x'.repeat(60_000) };
  const body = { name: 'large', description: 'x', input_schema: large };
  expect(await app.call('POST', '/v1/tools', { key, body })).toMatchObject(OVER);
  const small = { name: 'small', description: 'x' };
  expect((await app.call('POST', '/v1/tools', { key, body: small })).status).toBe(201);
  expect(await app.call('PUT', '/v1/tools/small', { key, body: { input_schema: large } })).toMatchObject(OVER);
  await app.call('DELETE', '/v1/tools/filler_1', { key });
  await app.call('DELETE', '/v1/tools/filler_2', { key });
  expect((await app.call('POST', '/v1/tools', { key, body })).status).toBe(201);
});
