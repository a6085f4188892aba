import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../../platform/config/index.ts';
import { createTrustedClient } from '../../../../platform/net/index.ts';
import { startEmbeddingServer, wordsVector, type EmbeddingScript } from '../../../../testing/embedding-server.ts';
import { unitVector } from '../unit-vector.ts';
import { EndpointEmbedder } from './endpoint-embedder.ts';

const KEY = 'sk-test-0123456789abcdefghij0123456789';
const { signal } = new AbortController();

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function setUp(script?: EmbeddingScript) {
  const server = await startEmbeddingServer({ dimensions: 8, ...(script && { script }) });
  const client = createTrustedClient();
  const sleeps: number[] = [];
  const embedder = new EndpointEmbedder({
    settings: { baseUrl: server.baseUrl, apiKey: new Secret(KEY), model: 'some-model' },
    client,
    sleep: (ms) => {
      sleeps.push(ms);
      return Promise.resolve();
    },
  });
  cleanUps.push(() => embedder.close(), client.close, server.close);
  return { server, embedder, sleeps };
}

const numbered = (count: number, text = 'word'): string[] => Array.from({ length: count }, (_, i) => `${text} ${i}`);
const sizesOf = (requests: { input: string[] }[]): number[] => requests.map(({ input }) => input.length);

describe('the embedder of an endpoint', () => {
  it('asks as the protocol has it', async () => {
    const { server, embedder } = await setUp();
    await embedder.embed(['one', 'two'], 'passage', signal);
    expect(server.requests).toEqual([
      { path: '/v1/embeddings', authorization: `Bearer ${KEY}`, model: 'some-model', input: ['one', 'two'] },
    ]);
    expect(embedder.model).toBe('endpoint:some-model');
  });

  it('asks for many texts in batches bounded in texts and characters, and not for empty ones', async () => {
    const { server, embedder } = await setUp();
    const texts = ['', ...numbered(70), ' \n', ...numbered(20, 'x'.repeat(7000))];
    const vectors = await embedder.embed(texts, 'passage', signal);
    expect(sizesOf(server.requests)).toEqual([32, 32, 15, 9, 2]);
    expect(vectors[0]).toBeNull();
    expect(vectors[71]).toBeNull();
    expect(vectors[1]).toEqual(unitVector(Float32Array.from(wordsVector('word 0', 8))));
    expect(vectors.filter((vector) => vector === null)).toHaveLength(2);
  });

  it('takes smaller batches once the server has refused a large one', async () => {
    const { server, embedder } = await setUp(({ input }) => (input.length > 10 ? { status: 413 } : undefined));
    expect((await embedder.embed(numbered(32), 'passage', signal)).every(Boolean)).toBe(true);
    expect(sizesOf(server.requests)).toEqual([32, 16, 8, 8, 16, 8, 8]);
    await embedder.embed(numbered(24), 'passage', signal);
    expect(sizesOf(server.requests.slice(7))).toEqual([8, 8, 8]);
  });

  it('shortens a text that is refused, and only that one', async () => {
    const { server, embedder } = await setUp(({ input }) =>
      input.some((text) => text.length > 1500) ? { status: 400, body: '{"error":"too many tokens"}' } : undefined,
    );
    const vectors = await embedder.embed(['a', 'b '.repeat(2000), 'c', 'd'], 'passage', signal);
    expect(vectors.every(Boolean)).toBe(true);
    expect(sizesOf(server.requests)).toEqual([4, 2, 1, 1, 1, 1, 2]);
    expect((await embedder.embed(numbered(32), 'passage', signal)).every(Boolean)).toBe(true);
    expect(sizesOf(server.requests.slice(7))).toEqual([32]);
  });

  it('tries again while the server is overloaded, as late as it asks, and a query only briefly', async () => {
    const busy = { status: 429, headers: { 'retry-after': '3' } };
    const { server, embedder, sleeps } = await setUp((_, index) => (index < 2 ? busy : undefined));
    expect(await embedder.embed(['text'], 'passage', signal)).toHaveLength(1);
    expect(sleeps).toEqual([3000, 3000]);
    server.answerWith(() => busy);
    const sentence = 'The embedding server is overloaded (status 429).';
    await expect(embedder.embed(['text'], 'query', signal)).rejects.toThrow(sentence);
    expect(sleeps).toHaveLength(2);
    await expect(embedder.embed(['text'], 'passage', signal)).rejects.toThrow(sentence);
    expect(server.requests).toHaveLength(3 + 1 + 6);
  });

  it('tries again when the connection is lost, with growing pauses', async () => {
    const { embedder, sleeps } = await setUp((_, index) => (index < 3 ? { isCut: true } : undefined));
    expect(await embedder.embed(['text'], 'passage', signal)).toHaveLength(1);
    expect(sleeps.map((ms) => Math.round(Math.log2(ms / 250)))).toEqual([1, 2, 3]);
  });

  it.each([
    [401, 'The embedding server refused EMBEDDINGS_API_KEY (status 401): Bad key *** here'],
    [404, 'The embedding server does not know the model "some-model" or the path /embeddings (status 404)'],
    [400, 'The embedding server refused the request (status 400): Bad key *** here'],
  ])('says what status %i means, without the key', async (status, sentence) => {
    const body = JSON.stringify({ error: { message: `Bad key ${KEY} here` } });
    const { server, embedder } = await setUp(() => ({ status, body }));
    await expect(embedder.embed(numbered(32), 'passage', signal)).rejects.toThrow(sentence);
    // What no request can mend is not asked for 32 texts one by one.
    expect(server.requests.length).toBeLessThan(10);
  });

  it('says that a server is not there', async () => {
    const { server, embedder } = await setUp();
    await server.close();
    cleanUps.pop();
    const sentence = 'The embedding server cannot be used: The connection was refused.';
    await expect(embedder.embed(['text'], 'query', signal)).rejects.toThrow(sentence);
  });

  it.each([
    ['not JSON', '<html>', 'it is not JSON'],
    ['no list', '{"data":{}}', '"data" is missing'],
    ['too few', '{"data":[{"embedding":[1,2]}]}', 'answered 1 vectors for 2 texts'],
    ['an index twice', '{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]}', 'the index 1, of 2'],
    ['an index beyond', '{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[2]}]}', 'the index 2, of 2'],
    ['an empty vector', '{"data":[{"embedding":[]},{"embedding":[1]}]}', 'without numbers'],
    ['a number too large', '{"data":[{"embedding":[1e60]},{"embedding":[1]}]}', 'not a number'],
    ['text for numbers', '{"data":[{"embedding":["1"]},{"embedding":[1]}]}', 'not a number'],
    ['base64', '{"data":[{"embedding":"AAAA"},{"embedding":"AAAA"}]}', '"data[0].embedding" is not a list of numbers'],
    ['two sizes', '{"data":[{"embedding":[1]},{"embedding":[1,2]}]}', 'of 2 numbers after others of 1'],
  ])('refuses an answer with %s', async (_, body, sentence) => {
    const { embedder } = await setUp(() => ({ body }));
    await expect(embedder.embed(['one', 'two'], 'passage', signal)).rejects.toThrow(sentence);
  });

  it('takes vectors without an index in their order, and one of zeros as none', async () => {
    const { embedder } = await setUp(() => ({ body: '{"data":[{"embedding":[3,4]},{"embedding":[0,0]}]}' }));
    const vectors = await embedder.embed(['one', 'two'], 'query', signal);
    expect(vectors).toEqual([Float32Array.of(0.6, 0.8), null]);
  });

  it('stops reading an answer that is too large', async () => {
    const { embedder } = await setUp(() => ({ body: `{"data":[${'1,'.repeat(200_000)}` }));
    await expect(embedder.embed(['text'], 'query', signal)).rejects.toThrow(/cannot be used: The answer is larger/);
  });
});
