import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTrustedClient, type TrustedClient } from '../../../platform/net/index.ts';
import { startEmbeddingServer, type EmbeddingServer } from '../../../testing/embedding-server.ts';
import { createEmbedder } from './create-embedder.ts';
import type { Embedder } from './embedder.ts';

const { signal } = new AbortController();
const QUESTION = 'How do I change my password?';

let client: TrustedClient;
let server: EmbeddingServer;
beforeAll(async () => {
  client = createTrustedClient();
  server = await startEmbeddingServer();
});
afterAll(async () => {
  await client.close();
  await server.close();
});

const openers: Record<string, () => Promise<Embedder | undefined>> = {
  builtin: () => createEmbedder({ settings: { kind: 'builtin' }, client }),
  endpoint: () => {
    const settings = { kind: 'endpoint', baseUrl: server.baseUrl, apiKey: undefined, model: 'words' } as const;
    return createEmbedder({ settings, client });
  },
};

/** A model is no part of the tests; a folder with one, given in the environment, has to keep the promises too. */
const localPath = process.env['TEST_EMBEDDINGS_LOCAL_PATH'];
if (localPath) openers['local'] = () => createEmbedder({ settings: { kind: 'local', path: localPath }, client });

function dot(left: Float32Array | null | undefined, right: Float32Array | null | undefined): number {
  if (!left || !right) return Number.NaN;
  return left.reduce((sum, value, i) => sum + value * (right[i] ?? Number.NaN), 0);
}

describe.each(Object.entries(openers))('the %s embedder', (_, open) => {
  let embedder: Embedder;
  const embed = (texts: string[], purpose: 'passage' | 'query' = 'passage') => embedder.embed(texts, purpose, signal);
  beforeAll(async () => {
    const opened = await open();
    if (!opened) throw new Error('there is no embedder');
    embedder = opened;
  });
  afterAll(() => embedder.close());

  it('gives unit vectors of one size', async () => {
    const vectors = await embed(['a', QUESTION, 'word '.repeat(600), '12345', 'Ünïcode “quotes” — and ½']);
    const sizes = new Set(vectors.map((vector) => vector?.length));
    expect(sizes.size).toBe(1);
    for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 5);
  });

  it('gives them in the order of the texts, alike alone and among any number of others', async () => {
    const texts = Array.from({ length: 80 }, (_empty, i) =>
      `Passage ${i} is about the number ${i * 7}. `.repeat((i % 9) + 1),
    );
    const together = await embed(texts);
    expect(together).toHaveLength(80);
    for (const i of [0, 13, 40, 79]) {
      const [alone] = await embed([texts[i] ?? '']);
      expect(dot(alone, together[i])).toBeCloseTo(1, 5);
    }
    expect(new Set(together.map((vector) => vector?.join())).size).toBe(80);
  });

  it('gives the same text the same vector', async () => {
    const [first] = await embed([QUESTION], 'query');
    const [second] = await embed([QUESTION], 'query');
    expect(second).toEqual(first);
  });

  it('finds what shares the meaning closer than what does not', async () => {
    const [question, answer, other] = await embed([
      QUESTION,
      'To change your password, open the settings.',
      'The train to Lisbon leaves at noon.',
    ]);
    expect(dot(question, answer)).toBeGreaterThan(dot(question, other));
  });

  it('gives null where there is nothing to embed, and nothing for nothing', async () => {
    expect(await embed([])).toEqual([]);
    const [empty, blank, text] = await embed(['', ' \n\t', 'text']);
    expect([empty, blank, text === null]).toEqual([null, null, false]);
  });

  it('reads only the beginning of a text of 100 kB', async () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(2300);
    const [whole, more] = await embed([text, `${text} And so on.`]);
    expect(dot(whole, more)).toBeCloseTo(1, 5);
  });

  it('takes any string', async () => {
    const texts = ['\u0000', '\ud800 half', '\u202eright to left', '\u0301', '💩'.repeat(5000), ' \u00a0 '];
    expect(await embed(texts)).toHaveLength(texts.length);
  });

  it('ends at once when it is given up, and works on', async () => {
    const caller = new AbortController();
    const reason = new Error('the caller left');
    const given = embedder.embed(
      Array.from({ length: 200 }, () => QUESTION.repeat(20)),
      'passage',
      caller.signal,
    );
    caller.abort(reason);
    await expect(given).rejects.toBe(reason);
    await expect(embedder.embed([QUESTION], 'query', caller.signal)).rejects.toBe(reason);
    expect(await embed([QUESTION], 'query')).toHaveLength(1);
  });

  it('fails what is under way when it is closed, and whatever comes after', async () => {
    const closed = await open();
    const given = closed?.embed(
      Array.from({ length: 200 }, () => QUESTION),
      'passage',
      signal,
    );
    const outcome = Promise.allSettled([given]);
    await closed?.close();
    expect(await outcome).toMatchObject([{ status: 'rejected', reason: { message: 'The embedder is closed.' } }]);
    await expect(closed?.embed(['a'], 'query', signal)).rejects.toThrow('The embedder is closed.');
    await closed?.close();
  });
});

describe('the builtin embedder', () => {
  it('has nothing to say of scripts that its model does not know', async () => {
    const embedder = await openers['builtin']?.();
    const texts = ['你好，世界。', 'Привет, мир', 'こんにちは', 'Hello 世界'];
    const vectors = await embedder?.embed(texts, 'passage', signal);
    expect(vectors?.map((vector) => vector?.length)).toEqual([undefined, undefined, undefined, 512]);
    await embedder?.close();
  });
});

describe('no embedder', () => {
  it('is made when embeddings are off', async () => {
    expect(await createEmbedder({ settings: { kind: 'off' }, client })).toBeUndefined();
  });
});
