import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeDataDir, removeDataDirs } from '../testing/data-dirs.ts';
import { startEmbeddingServer, wordsVector, type EmbeddingServer } from '../testing/embedding-server.ts';
import { knowledgeCalls } from '../testing/knowledge-calls.ts';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

const DIMENSIONS = 40;

let server: EmbeddingServer;
let app: TestApp;
/** Another process on the same database. */
let other: TestApp;
let developer: { id: string; key: string };

const { createBase, upload, results, sources, call } = knowledgeCalls(() => ({ app, developer }));

beforeAll(async () => {
  server = await startEmbeddingServer({ dimensions: DIMENSIONS });
  app = await startTestApp({ EMBEDDINGS_BASE_URL: server.baseUrl, DATA_DIR: await makeDataDir() });
  other = await startTestApp({ ...env('text-embedding-3-small'), DATA_DIR: await makeDataDir() });
});
afterAll(async () => {
  await other.stop();
  await app.stop();
  await server.close();
  await removeDataDirs();
});
beforeEach(async () => {
  server.answerWith(undefined);
  developer = await app.createDeveloper();
});

/** For further processes on the same database: all tests share its connections. */
function sharing(): Record<string, string> {
  return { DATABASE_URL: app.databaseUrl, DATABASE_POOL: '3' };
}

function env(model: string): Record<string, string> {
  return { ...sharing(), EMBEDDINGS_BASE_URL: server.baseUrl, EMBEDDINGS_MODEL: model };
}

async function vectors(model?: string): Promise<Record<string, unknown>[]> {
  const sql = `select document_no, position, model, vector from knowledge_vectors
    where developer_id = $1 and ($2::text is null or model like '%' || $2) order by 1, 2`;
  return queryRows(app.databaseUrl, sql, [developer.id, model ?? null]);
}

function product(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
}

function cosine(text: string, another: string): number {
  const [left, right] = [wordsVector(text, DIMENSIONS), wordsVector(another, DIMENSIONS)];
  return product(left, right) / Math.sqrt(product(left, left) * product(right, right));
}

function timesAsked(question: string): number {
  return server.requests.filter(({ input }) => input.includes(question)).length;
}

let strangers = 0;

/** A word that none of the texts has, and whose vector is not far from theirs. */
function strangerTo(...texts: string[]): string {
  for (;;) {
    const word = `stranger${strangers++}`;
    if (texts.every((text) => cosine(word, text) > 0.01)) return word;
  }
}

function passagesOf(count: number): string {
  return Array.from({ length: count }, (_, i) => `## s\nword${i % 17} word${i % 5} thing${i}`).join('\n');
}

test('passages are found by words at once, and by meaning soon after', async () => {
  const base = await createBase();
  await upload(base, { content: 'The goods go back.', title: 'a' });
  expect(await sources(base, { query: 'goods' })).toEqual(['a']);
  await expect.poll(() => vectors().then(({ length }) => length)).toBe(1);
  // No word in common, so that only its vector can have found it.
  const query = strangerTo('a\nThe goods go back.');
  for (const on of [app, other]) {
    await expect.poll(() => results(base, { query }, on)).toMatchObject([{ source: 'a' }]);
  }
});

test('a question is embedded once, and only where there are vectors', async () => {
  const base = await createBase();
  await results(base, { query: 'a question of its own' });
  expect(timesAsked('a question of its own')).toBe(0);
  await upload(base, { content: 'text' });
  await expect.poll(() => vectors().then(({ length }) => length)).toBe(1);
  for (let i = 0; i < 3; i++) await results(base, { query: 'a question of its own' });
  expect(timesAsked('a question of its own')).toBe(1);
});

test('the order by meaning is that of brute force, with and without a filter', { timeout: 60_000 }, async () => {
  const base = await createBase();
  const passages: { text: string; kind: number }[] = [];
  for (let i = 0; i < 6; i++) {
    const texts = Array.from({ length: 50 + i }, (_, at) => `word${at % 17} word${at % 5} thing${i}x${at}`);
    passages.push(...texts.map((text) => ({ text, kind: i % 2 })));
    const content = texts.map((text) => `# head\n${text}`).join('\n');
    await upload(base, { content, title: 'title', metadata: { kind: i % 2 } });
  }
  await expect.poll(() => vectors().then(({ length }) => length), { timeout: 20_000 }).toBe(passages.length);
  for (const query of ['one', 'two unknown', 'three 三']) {
    for (const kinds of [[0, 1], [1]]) {
      const filter = kinds.length === 1 ? { filter: { kind: kinds[0] } } : {};
      const found = await results(base, { query, limit: 100, details: true, ...filter });
      const wanted = passages
        .filter(({ kind }) => kinds.includes(kind))
        .map(({ text }) => ({ text, closeness: cosine(query, `title\nhead\n${text}`) }))
        .filter(({ closeness }) => closeness > 0)
        .toSorted((one, another) => another.closeness - one.closeness)
        .slice(0, 100);
      expect(wanted.length).toBeGreaterThan(10);
      expect(found).toMatchObject(wanted.map(({ text }) => ({ text })));
    }
  }
});

test('vectors go with their documents', async () => {
  const base = await createBase();
  const id = await upload(base, { content: 'The goods go back.' });
  await expect.poll(() => vectors().then(({ length }) => length)).toBe(1);
  await call('POST', `/${base}/content`, { content: 'First.', metadata: { title: 't' } });
  await expect.poll(() => vectors().then(({ length }) => length)).toBe(2);
  await call('POST', `/${base}/content`, { content: passagesOf(3), metadata: { title: 't' } });
  await call('DELETE', `/${base}/documents/${id}`);
  await expect.poll(() => vectors().then(({ length }) => length)).toBe(3);
  await call('DELETE', `/${base}`);
  expect(await vectors()).toEqual([]);
});

test('while the server of embeddings is away, words answer; it is made up for later', async () => {
  const base = await createBase();
  await upload(base, { content: 'The goods go back.', title: 'a' });
  await expect.poll(() => vectors().then(({ length }) => length)).toBe(1);
  server.answerWith(() => ({ status: 400 }));
  await upload(base, { content: 'More goods.', title: 'b' });
  expect((await sources(base, { query: 'never asked goods' })).toSorted()).toEqual(['a', 'b']);
  const stranger = strangerTo('a\nThe goods go back.', 'b\nMore goods.');
  expect(await sources(base, { query: stranger })).toEqual([]);
  server.answerWith(undefined);
  await expect.poll(() => vectors().then(({ length }) => length), { timeout: 10_000 }).toBe(2);
  expect((await sources(base, { query: stranger })).toSorted()).toEqual(['a', 'b']);
});

test('another model embeds everything anew, while questions are answered', { timeout: 30_000 }, async () => {
  const base = await createBase();
  await upload(base, { content: passagesOf(100), title: 'a' });
  await expect.poll(() => vectors('3-small').then(({ length }) => length)).toBe(100);
  const changed = await startTestApp({ ...env('another-model'), DATA_DIR: await makeDataDir() });
  expect(await sources(base, { query: 'thing7' }, changed)).toContain('a');
  await expect.poll(() => vectors('another-model').then(({ length }) => length), { timeout: 10_000 }).toBe(100);
  expect(pick(await results(base, { query: 'thing7' }, changed), 0)).toMatchObject({ source: 'a' });
  expect(pickText(pick(await results(base, { query: 'thing7' }), 0), 'text')).toContain('thing7');
  await changed.stop();
});

test('processes that share a database embed each passage once', async () => {
  const base = await createBase();
  const before = server.requests.length;
  for (let i = 0; i < 10; i++) await upload(base, { content: `unique${i} passage` }, i % 2 === 0 ? app : other);
  await expect.poll(() => vectors().then(({ length }) => length)).toBe(10);
  const texts = server.requests.slice(before).flatMap(({ input }) => input);
  expect(texts.filter((text) => text.includes('unique')).toSorted()).toEqual([...new Set(texts)].toSorted());
});

test('what a process without an embedder stores, another embeds soon after', { timeout: 30_000 }, async () => {
  const wordsOnly = await startTestApp({ ...sharing(), EMBEDDINGS: 'off', DATA_DIR: await makeDataDir() });
  const base = await createBase();
  // Both have looked at all bases by now, and do so again only after a minute.
  await upload(base, { content: 'First.' });
  await expect.poll(() => vectors().then(({ length }) => length)).toBe(1);
  await upload(base, { content: 'Second.' }, wordsOnly);
  await expect.poll(() => vectors().then(({ length }) => length), { timeout: 10_000 }).toBe(2);
  await wordsOnly.stop();
});

test(
  'where the vectors of a base do not fit into memory, words alone find its passages',
  { timeout: 30_000 },
  async () => {
    // One vector takes 6 kB, so that 300 are more than there is room for.
    const wide = await startEmbeddingServer({ dimensions: 1500 });
    const shared = { ...env('wide'), EMBEDDINGS_BASE_URL: wide.baseUrl };
    const small = await startTestApp({ ...shared, HOT_INDEX_MB: '1', DATA_DIR: await makeDataDir() });
    const off = await startTestApp({ ...sharing(), EMBEDDINGS: 'off', DATA_DIR: await makeDataDir() });
    const base = await createBase();
    await upload(base, { content: passagesOf(300), title: 'a' });
    await expect.poll(() => vectors('wide').then(({ length }) => length), { timeout: 20_000 }).toBe(300);
    const query = { query: 'thing7 word3 word4', details: true };
    // Scores say how: those of the database are others.
    await expect.poll(() => results(base, query, small), { timeout: 10_000 }).toEqual(await results(base, query, off));
    expect(await results(base, query, small)).toHaveLength(5);
    await small.stop();
    await off.stop();
    await wide.close();
  },
);
