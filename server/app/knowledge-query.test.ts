import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeDataDir, removeDataDirs } from '../testing/data-dirs.ts';
import { knowledgeCalls } from '../testing/knowledge-calls.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let dataDir: string;
let app: TestApp;
/** Another process on the same database, and one that holds nothing in memory. */
let other: TestApp;
let bare: TestApp;
let developer: { id: string; key: string };

const { call, createBase, upload, results, sources } = knowledgeCalls(() => ({ app, developer }));

beforeAll(async () => {
  dataDir = await makeDataDir();
  app = await startTestApp({ EMBEDDINGS: 'off', DATA_DIR: dataDir });
  const env = { EMBEDDINGS: 'off', DATABASE_URL: app.databaseUrl };
  other = await startTestApp({ ...env, DATA_DIR: await makeDataDir() });
  bare = await startTestApp({ ...env, DATA_DIR: await makeDataDir(), HOT_INDEX_MB: '0' });
});
afterAll(async () => {
  await other.stop();
  await bare.stop();
  await app.stop();
  await removeDataDirs();
});
beforeEach(async () => {
  developer = await app.createDeveloper();
});

const RETURNS = '# Returns\n\nCustomers may return goods within 30 days.\n\n## Costs\n\nWe pay for the parcel.';
const SHIPPING = 'Parcels leave our house on the same day. Shipping to Norway takes a week.';

async function shop(): Promise<string> {
  const base = await createBase();
  await upload(base, { content: RETURNS, title: 'Returns policy', metadata: { category: 'returns', v: { n: 1 } } });
  await upload(base, { content: SHIPPING, title: 'Shipping', metadata: { category: 'shipping' } });
  return base;
}

describe('a query', () => {
  test('gives the passages that hold its words, best first', async () => {
    const base = await shop();
    const first = { text: 'Customers may return goods within 30 days.', source: 'Returns policy' };
    const found = await results(base, { query: 'How long can a customer return the goods?' });
    expect(pick(found, 0)).toEqual({ ...first, metadata: { category: 'returns', v: { n: 1 } } });
    for (const on of [other, bare]) {
      expect(pick(await results(base, { query: 'returning goods' }, on), 0)).toMatchObject(first);
      expect(await sources(base, { query: 'norway' }, on)).toEqual(['Shipping']);
    }
  });

  test('says where a passage stands, if asked', async () => {
    const base = await createBase();
    const content = '# 退货\r\n\r\n👍 顾客可以退货。\n\n- a\n- b';
    const documentId = await upload(base, { content, title: 'T' });
    const found = pick(await results(base, { query: '退货', details: true }), 0);
    const [start, end] = [Number(pick(found, 'start')), Number(pick(found, 'end'))];
    expect(content.slice(start, end)).toBe(pickText(found, 'text'));
    expect(found).toEqual({
      text: '👍 顾客可以退货。\n\n- a\n- b',
      source: 'T',
      metadata: {},
      documentId,
      score: expect.any(Number),
      start,
      end,
    });
  });

  test('counts title and headings, which the text does not repeat', async () => {
    const base = await createBase();
    await upload(base, { content: '# Zebras\n\nThey eat grass.', title: 'Animals of Kenya' });
    for (const query of ['zebra', 'kenya', 'grass']) {
      expect(await results(base, { query })).toMatchObject([{ text: 'They eat grass.' }]);
    }
  });

  test('finds Chinese by parts of its words', async () => {
    const base = await createBase();
    await upload(base, { content: '顾客可以在三十天内退货，运费由我们承担。', title: '退货政策' });
    await upload(base, { content: '我们当天发货。', title: '发货' });
    expect(await sources(base, { query: '退货要多少天？' })).toContain('退货政策');
    expect(await sources(base, { query: '谁付运费' })).toEqual(['退货政策']);
    expect(await sources(base, { query: '天' })).toEqual(['退货政策', '发货']);
  });

  test('has at most the results that were asked for, five by default', async () => {
    const base = await createBase();
    for (let i = 0; i < 8; i++) await upload(base, { content: `The same word, ${i}.` });
    expect(await results(base, { query: 'word' })).toHaveLength(5);
    expect(await results(base, { query: 'word', limit: 7 })).toHaveLength(7);
    expect(await results(base, { query: 'word', limit: 100 })).toHaveLength(8);
  });

  test.each([
    [{ category: 'returns' }, ['Returns policy']],
    [{ category: ['shipping', 'other'] }, ['Shipping']],
    [{ 'v.n': 1 }, ['Returns policy']],
    [{ v: { n: 1 } }, ['Returns policy']],
    [{ 'v.n': 2 }, []],
    [{ category: 'returns', missing: null }, []],
    [{}, ['Returns policy', 'Shipping']],
  ])('passes over documents whose metadata is not %j', async (filter, expected) => {
    const base = await shop();
    for (const on of [app, bare]) {
      const found = await sources(base, { query: 'parcels', filter, limit: 100 }, on);
      expect([...new Set(found)].toSorted()).toEqual(expected);
      expect(await sources(base, { query: 'arcel', filter }, on)).toEqual(expected);
    }
  });

  test('that matches no word finds documents that contain it, with how they begin', async () => {
    const base = await createBase();
    const content = `Serial numbers begin with aXKL_%QAz-${'z'.repeat(600)}`;
    await upload(base, { content, title: 'Serials', metadata: { a: 1 } });
    await upload(base, { content: 'Nothing.', title: 'bXK-lists' });
    const found = { text: content.slice(0, 500), source: 'Serials', metadata: { a: 1 } };
    for (const on of [app, bare]) {
      expect(await results(base, { query: 'kl_%qa' }, on)).toEqual([found]);
      expect(await results(base, { query: '\\' }, on)).toEqual([]);
    }
    expect(await results(base, { query: '_%q', details: true })).toMatchObject([{ score: 0, start: 0, end: 500 }]);
    expect(await sources(base, { query: 'k-LIS' })).toEqual(['bXK-lists']);
  });

  test('finds a sentence in megabytes, and says where it stands', { timeout: 60_000 }, async () => {
    const base = await createBase();
    const sentence = 'The needle lies here 👍.';
    const filler = 'Many words stand in this hay. '.repeat(70_000);
    const content = `${filler}\n\n${sentence}\n\n${filler}`;
    await upload(base, { content, title: 'hay' });
    for (const on of [app, other, bare]) {
      const found = pick(await results(base, { query: 'needle', details: true }, on), 0);
      const [start, end] = [Number(pick(found, 'start')), Number(pick(found, 'end'))];
      expect(content.slice(start, end)).toBe(pickText(found, 'text'));
      expect(pickText(found, 'text')).toContain(sentence);
      expect(end - start).toBeLessThan(2000);
    }
    const tooLarge = await call('POST', `/${base}/documents`, { content: 'x'.repeat(11 * 1024 * 1024) });
    expect(tooLarge).toMatchObject({ status: 413, body: { error: { code: 'PAYLOAD_TOO_LARGE' } } });
  });

  test.each(['   ', '\u202e\u200f', '?', '%', 'x '.repeat(16_000), '👍'.repeat(1000), "'; drop table x; --", '\\'])(
    'of odd characters is answered: %#',
    async (query) => {
      const base = await shop();
      for (const on of [app, bare]) expect(Array.isArray(await results(base, { query }, on))).toBe(true);
    },
  );

  test('of blanks alone finds nothing', async () => {
    const base = await shop();
    for (const on of [app, bare]) expect(await results(base, { query: ' \n\u00a0' }, on)).toEqual([]);
  });
});

describe('every process', () => {
  test('sees what another has written on its very next query', async () => {
    const base = await createBase();
    const apps = [app, other];
    for (let i = 0; i < 20; i++) {
      const [writer = app, reader = other] = i % 2 === 0 ? apps : apps.toReversed();
      const id = await upload(base, { content: `The token of round ${i} is qz${i}qz.`, title: `t${i}` }, writer);
      expect(await sources(base, { query: `qz${i}qz` }, reader)).toEqual([`t${i}`]);
      if (i % 3 !== 0) continue;
      const path = `/v1/knowledge/${base}/documents/${id}`;
      expect((await writer.call('DELETE', path, { key: developer.key })).status).toBe(200);
      expect(await sources(base, { query: `qz${i}qz` }, reader)).toEqual([]);
    }
  });

  test('sees content that was replaced, and never neither of both', async () => {
    const base = await createBase();
    const write = (text: string): Promise<unknown> =>
      call('POST', `/${base}/content`, { content: `Current: ${text}.`, metadata: { title: 'state' } });
    await write('state0');
    const over = new AbortController();
    const read = async (on: TestApp): Promise<void> => {
      while (!over.signal.aborted) expect(await sources(base, { query: 'current' }, on)).toEqual(['state']);
    };
    const readers = [read(app), read(other)];
    for (let i = 1; i < 40; i++) {
      await write(`state${i}`);
      expect(await results(base, { query: `state${i}` }, other)).toMatchObject([{ text: `Current: state${i}.` }]);
    }
    over.abort();
    await Promise.all(readers);
  });

  test('answers alike from memory, however that came about', { timeout: 60_000 }, async () => {
    const base = await createBase();
    const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta'];
    const content = (i: number): string =>
      Array.from({ length: 40 }, (_, at) => words[(i * 7 + at * at) % (words.length - (i % 3))]).join(' ');
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) {
      ids.push(
        await upload(base, {
          content: Array.from({ length: 25 }, (_, at) => `## p${at}\n${content(i + at)}`).join('\n'),
        }),
      );
      await results(base, { query: 'alpha' });
      if (i % 5 === 4) await call('DELETE', `/${base}/documents/${ids[i - 2]}`);
    }
    const queries = ['alpha beta', 'gamma', 'p3 theta', 'epsilon zeta eta'];
    const answersOf = (on: TestApp) =>
      Promise.all(queries.map((query) => results(base, { query, limit: 50, details: true }, on)));
    const grown = await answersOf(app);
    expect(await answersOf(other)).toEqual(grown);
    // From its file, and from one that is damaged.
    const env = { EMBEDDINGS: 'off', DATABASE_URL: app.databaseUrl };
    const folder = await makeDataDir();
    const first = await startTestApp({ ...env, DATA_DIR: folder });
    expect(await answersOf(first)).toEqual(grown);
    await first.stop();
    const again = await startTestApp({ ...env, DATA_DIR: folder });
    await upload(base, { content: 'One more alpha.', title: 'new' }, again);
    expect(await answersOf(again)).toEqual(await answersOf(app));
    await again.stop();
    await rm(folder, { recursive: true });
  });
});
