import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { knowledgeCalls } from '../testing/knowledge-calls.ts';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
let developer: { id: string; key: string };

const { call, createBase, upload, results } = knowledgeCalls(() => ({ app, developer }));
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u);

beforeAll(async () => {
  app = await startTestApp({ EMBEDDINGS: 'off' });
});
afterAll(() => app.stop());
beforeEach(async () => {
  developer = await app.createDeveloper();
});

function names(body: unknown): string[] {
  const listed = pick(body, 'knowledgeBases');
  return Array.isArray(listed) ? listed.map((base) => pickText(base, 'name')) : [];
}

async function documentCount(baseId: string): Promise<unknown> {
  return pick((await call('GET', `/${baseId}`)).body, 'documentCount');
}

async function events(): Promise<unknown[]> {
  const sql = "select data from outbox_events where developer_id = $1 and type = 'knowledge.updated' order by seq";
  return (await queryRows(app.databaseUrl, sql, [developer.id])).map(({ data }) => data);
}

describe('bases', () => {
  test('are created, read, changed, listed and deleted', async () => {
    const created = await call('POST', '', { name: 'Handbook', description: 'How we work.', type: 'faq' });
    expect(created.status).toBe(201);
    const base = {
      _id: expect.stringMatching(/^kb_/u),
      developerId: developer.id,
      name: 'Handbook',
      description: 'How we work.',
      type: 'faq',
      documentCount: 0,
      createdAt: TIME,
      updatedAt: TIME,
    };
    expect(created.body).toEqual(base);
    const id = pickText(created.body, '_id');
    expect((await call('GET', `/${id}`)).body).toEqual(created.body);
    const changed = await call('PUT', `/${id}`, { name: 'Manual', type: 'manual' });
    expect(changed).toMatchObject({ status: 200 });
    expect(changed.body).toEqual({ ...base, name: 'Manual', type: 'manual' });
    const { createdAt: _createdAt, developerId: _developerId, ...listed } = { ...base, name: 'Manual', type: 'manual' };
    expect((await call('GET', '')).body).toEqual({ knowledgeBases: [listed] });
    expect(await call('DELETE', `/${id}`)).toMatchObject({ status: 200, body: { success: true } });
    expect((await call('GET', `/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/${id}`)).status).toBe(404);
  });

  test('are general and empty unless said otherwise, and need no unique name', async () => {
    const answers = [await call('POST', '', { name: 'A' }), await call('POST', '', { name: 'A' })];
    for (const { status, body } of answers) {
      expect(status).toBe(201);
      expect(body).toMatchObject({ name: 'A', description: '', type: 'general', documentCount: 0 });
    }
  });

  test('are listed oldest first, in pages if asked', async () => {
    for (const name of ['a', 'b', 'c']) await createBase({ name });
    expect(names((await call('GET', '')).body)).toEqual(['a', 'b', 'c']);
    const page = (await call('GET', '?limit=2')).body;
    expect(names(page)).toEqual(['a', 'b']);
    const rest = (await call('GET', `?limit=2&cursor=${pickText(page, 'nextCursor')}`)).body;
    expect(names(rest)).toEqual(['c']);
    expect(rest).not.toHaveProperty('nextCursor');
  });

  test('take their documents with them', async () => {
    const id = await createBase();
    await upload(id, { content: 'text' });
    await call('DELETE', `/${id}`);
    for (const table of ['documents', 'chunks', 'removals', 'vectors', 'embeddings']) {
      const sql = `select count(*)::int as n from knowledge_${table} where developer_id = $1`;
      expect(await queryRows(app.databaseUrl, sql, [developer.id])).toEqual([{ n: 0 }]);
    }
  });
});

describe('documents', () => {
  test('are uploaded, listed, read and deleted', async () => {
    const base = await createBase();
    const metadata = { version: 3, category: 'returns', nested: { z: 1, a: ['é'] } };
    const uploaded = await call('POST', `/${base}/documents`, { content: '# R\n\nText.', title: 'Returns', metadata });
    expect(uploaded.status).toBe(201);
    const id = pickText(uploaded.body, 'id');
    expect(uploaded.body).toEqual({ id: expect.stringMatching(/^doc_/u), title: 'Returns' });
    const plain = await call('POST', `/${base}/documents`, { content: 'Other.' });
    expect(plain.body).toEqual({ id: expect.stringMatching(/^doc_/u), title: 'Untitled' });
    expect(await documentCount(base)).toBe(2);
    const listed = { _id: id, title: 'Returns', metadata, createdAt: TIME };
    const { body } = await call('GET', `/${base}/documents`);
    expect(pick(body, 'documents', 0)).toEqual(listed);
    expect(JSON.stringify(pick(body, 'documents', 0, 'metadata'))).toBe(JSON.stringify(metadata));
    expect(pick(body, 'documents', 1)).toMatchObject({ title: 'Untitled', metadata: {} });
    expect((await call('GET', `/${base}/documents/${id}`)).body).toEqual({ ...listed, content: '# R\n\nText.' });
    expect(await call('DELETE', `/${base}/documents/${id}`)).toMatchObject({ status: 200, body: { success: true } });
    expect((await call('DELETE', `/${base}/documents/${id}`)).status).toBe(404);
    expect((await call('GET', `/${base}/documents/${id}`)).status).toBe(404);
    expect(await documentCount(base)).toBe(1);
    expect(await events()).toEqual([
      { knowledgeId: base, action: 'upload', documentTitle: 'Returns' },
      { knowledgeId: base, action: 'upload', documentTitle: 'Untitled' },
    ]);
  });

  test('are listed in pages if asked', async () => {
    const base = await createBase();
    for (const title of ['a', 'b', 'c']) await upload(base, { content: 'x', title });
    const page = (await call('GET', `/${base}/documents?limit=2`)).body;
    expect(pick(page, 'documents')).toMatchObject([{}, {}]);
    const rest = (await call('GET', `/${base}/documents?cursor=${pickText(page, 'nextCursor')}`)).body;
    expect(rest).toMatchObject({ documents: [{}] });
    expect(rest).not.toHaveProperty('nextCursor');
  });

  test('written as content replace the newest of their title', async () => {
    const base = await createBase();
    const first = await upload(base, { content: 'one', title: 'Returns' });
    const second = await upload(base, { content: 'two', title: 'Returns', metadata: { version: 1 } });
    const metadata = { title: 'Returns', version: 2 };
    expect(await call('POST', `/${base}/content`, { content: 'three', metadata })).toMatchObject({
      status: 201,
      body: { success: true },
    });
    expect(await documentCount(base)).toBe(2);
    expect((await call('GET', `/${base}/documents/${first}`)).body).toMatchObject({ content: 'one' });
    expect((await call('GET', `/${base}/documents/${second}`)).body).toMatchObject({
      content: 'three',
      title: 'Returns',
      metadata,
    });
    await call('POST', `/${base}/content`, { content: 'four', metadata: { title: 'Other' } });
    await call('POST', `/${base}/content`, { content: 'five' });
    await call('POST', `/${base}/content`, { content: 'six', metadata: { version: 1 } });
    expect(await documentCount(base)).toBe(5);
    expect(await results(base, { query: 'two' })).toEqual([]);
    expect(await results(base, { query: 'three' })).toEqual([{ text: 'three', source: 'Returns', metadata }]);
    expect((await events()).slice(2)).toEqual([
      { knowledgeId: base, action: 'update', documentTitle: 'Returns' },
      { knowledgeId: base, action: 'update', documentTitle: 'Other' },
      { knowledgeId: base, action: 'update', documentTitle: 'Untitled' },
      { knowledgeId: base, action: 'update', documentTitle: 'Untitled' },
    ]);
  });

  test('a thousand at the same time are counted exactly', { timeout: 60_000 }, async () => {
    const base = await createBase();
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, i) =>
        call('POST', `/${base}/documents`, { content: `text ${i}`, title: `t${i}` }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(await documentCount(base)).toBe(1000);
    expect(await events()).toHaveLength(1000);
    expect(pick((await call('GET', `/${base}/documents`)).body, 'documents')).toHaveLength(1000);
  });
});

describe('refusals', () => {
  test.each([
    ['', {}, 'name is required.'],
    ['', { name: 'a', type: 'wiki' }, /^type must be/u],
    ['', { name: '' }, /^name must/u],
    ['', { name: 5 }, /^name must/u],
    ['documents', {}, 'content is required.'],
    ['documents', { content: '' }, /^content must/u],
    ['documents', { content: 5 }, /^content must/u],
    ['documents', { content: 'x', title: '' }, /^title must/u],
    ['documents', { content: 'x', title: 't'.repeat(1001) }, /^title must/u],
    ['documents', { content: 'x', metadata: [] }, /^metadata must/u],
    ['documents', { content: 'a\0b' }, /^content contains the character U\+0000/u],
    ['documents', { content: 'x', metadata: { a: 'a\0b' } }, /^metadata\.a contains/u],
    ['documents', '{"content":"\\ud83d"}', /^content contains half of a surrogate pair/u],
    ['content', {}, 'content is required.'],
    ['content', { content: 'x', metadata: { title: 5 } }, /^metadata\.title must/u],
    ['content', { content: 'x', metadata: { title: '' } }, /^metadata\.title must/u],
    ['query', {}, 'query is required.'],
    ['query', { query: '' }, /^query must/u],
    ['query', { query: 'x'.repeat(100_000) }, /^query must/u],
    ['query', { query: 'x', limit: 0 }, /^limit must/u],
    ['query', { query: 'x', limit: 101 }, /^limit must/u],
    ['query', { query: 'x', limit: 1.5 }, /^limit must/u],
    ['query', { query: 'x', filter: 'y' }, /^filter must/u],
    ['query', { query: 'x', details: 'y' }, /^details must/u],
  ])('of a write or query: %s of %j', async (path, body, message) => {
    const answer = await call('POST', path === '' ? '' : `/${await createBase()}/${path}`, body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
    expect(pickText(answer.body, 'error', 'message')).toMatch(message);
  });

  test.each(['?limit=0', '?limit=x', '?cursor=x', '?cursor=bm9wZQ'])('of a list: %s', async (query) => {
    const base = await createBase();
    for (const path of ['', `/${base}/documents`]) {
      expect(await call('GET', `${path}${query}`)).toMatchObject({
        status: 400,
        body: { error: { code: 'INVALID_REQUEST' } },
      });
    }
  });

  test('a base that is absent, malformed or foreign is not found', async () => {
    const own = await createBase();
    const document = await upload(own, { content: 'secret' });
    developer = await app.createDeveloper();
    expect((await call('GET', '')).body).toEqual({ knowledgeBases: [] });
    for (const id of [own, 'kb_00000000000000000000000000', 'nonsense', '..%2F..', 'kb_%00']) {
      const answers = [
        await call('GET', `/${id}`),
        await call('PUT', `/${id}`, { name: 'mine' }),
        await call('DELETE', `/${id}`),
        await call('POST', `/${id}/documents`, { content: 'x' }),
        await call('POST', `/${id}/content`, { content: 'x' }),
        await call('GET', `/${id}/documents`),
        await call('GET', `/${id}/documents/${document}`),
        await call('DELETE', `/${id}/documents/${document}`),
        await call('POST', `/${id}/query`, { query: 'secret' }),
      ];
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    }
  });

  test('a document that is absent or malformed is not found', async () => {
    const base = await createBase();
    for (const id of ['doc_00000000000000000000000000', 'nonsense', 'doc_%00']) {
      expect((await call('GET', `/${base}/documents/${id}`)).status).toBe(404);
      expect((await call('DELETE', `/${base}/documents/${id}`)).status).toBe(404);
    }
  });

  test('writing needs the permission to write, reading that to read', async () => {
    const base = await createBase();
    const { key } = await app.createKey(developer.key, ['read']);
    const reader = (method: string, path: string, body?: unknown) =>
      app.call(method, `/v1/knowledge${path}`, { key, body });
    const refused = [
      await reader('POST', '', { name: 'x' }),
      await reader('PUT', `/${base}`, { name: 'x' }),
      await reader('DELETE', `/${base}`),
      await reader('POST', `/${base}/documents`, { content: 'x' }),
      await reader('POST', `/${base}/content`, { content: 'x' }),
    ];
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    }
    expect((await reader('GET', '')).status).toBe(200);
    expect((await reader('POST', `/${base}/query`, { query: 'x' })).status).toBe(200);
  });
});
