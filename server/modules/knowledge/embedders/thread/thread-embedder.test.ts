import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ThreadEmbedder } from './thread-embedder.ts';

const { signal } = new AbortController();

/** A thread whose vectors say which texts came together and how many requests there were before. */
const ECHO = `
  const { parentPort } = require('node:worker_threads');
  let requests = 0;
  parentPort.on('message', ({ texts, purpose }) => {
    requests++;
    if (texts.includes('exit')) process.exit(3);
    if (texts.includes('fail')) return parentPort.postMessage({ failure: 'it does not like this' });
    if (texts.includes('throw')) throw new Error('it broke');
    if (texts.includes('hang')) return;
    parentPort.postMessage({ vectors: texts.map((text) => Float32Array.of(requests, texts.length, text.length)) });
  });
`;

const embedders: ThreadEmbedder[] = [];
afterEach(async () => {
  for (const embedder of embedders.splice(0)) await embedder.close();
});

function setUp(options: { code?: string; idleMs?: number } = {}) {
  let starts = 0;
  const embedder = new ThreadEmbedder({
    model: 'echo',
    start: () => {
      starts++;
      return new Worker(options.code ?? ECHO, { eval: true });
    },
    maxCharacters: 10,
    slice: { texts: 3, characters: 12 },
    ...options,
  });
  embedders.push(embedder);
  return { embedder, starts: () => starts };
}

async function embed(embedder: ThreadEmbedder, texts: string[], purpose: 'passage' | 'query' = 'passage') {
  return (await embedder.embed(texts, purpose, signal)).map((vector) => vector && [...vector]);
}

describe('an embedder in a thread', () => {
  it('gives the thread slices bounded in texts and characters, in order, and no more of a text than it reads', async () => {
    const { embedder } = setUp();
    const texts = ['a', '', 'b', 'c', 'd', 'e'.repeat(11), 'f'.repeat(100_000), ' '];
    expect(await embed(embedder, texts)).toEqual([
      [1, 3, 1],
      null,
      [1, 3, 1],
      [1, 3, 1],
      [2, 2, 1],
      [2, 2, 10],
      [3, 1, 10],
      null,
    ]);
  });

  it('starts the thread at the first need, and not for nothing', async () => {
    const { embedder, starts } = setUp();
    expect(await embed(embedder, [])).toEqual([]);
    expect(await embed(embedder, ['', '\n'])).toEqual([null, null]);
    expect(starts()).toBe(0);
    await Promise.all([embed(embedder, ['a']), embed(embedder, ['b'])]);
    expect(starts()).toBe(1);
  });

  it('lets queries go before the passages that wait', async () => {
    const { embedder } = setUp();
    const passages = embed(
      embedder,
      Array.from({ length: 9 }, () => 'p'),
    );
    const query = embed(embedder, ['q'], 'query');
    expect(await query).toEqual([[2, 1, 1]]);
    expect((await passages).map((vector) => vector?.[0])).toEqual([1, 1, 1, 3, 3, 3, 4, 4, 4]);
  });

  it('ends the thread when it has had no work for a while, and starts it again', async () => {
    const { embedder, starts } = setUp({ idleMs: 1 });
    await embed(embedder, ['a']);
    await vi.waitFor(() => expect(embedder.isLoaded).toBe(false));
    expect(await embed(embedder, ['a'])).toEqual([[1, 1, 1]]);
    expect(starts()).toBe(2);
  });

  it.each([
    ['fail', 'it does not like this'],
    ['throw', 'it broke'],
    ['exit', 'the thread of the embedding model has ended'],
  ])('reports a thread that cannot go on (%s), and works on with another', async (text, message) => {
    const { embedder, starts } = setUp();
    const failed = embed(embedder, [text]);
    const next = embed(embedder, ['a']);
    await expect(failed).rejects.toThrow(message);
    expect(await next).toEqual([[1, 1, 1]]);
    expect(starts()).toBe(2);
  });

  it('reports a thread that cannot start', async () => {
    const { embedder } = setUp({ code: 'throw new Error("no such model")' });
    await expect(embed(embedder, ['a'])).rejects.toThrow('no such model');
    await expect(embed(embedder, ['a'])).rejects.toThrow('no such model');
  });

  it('gives up a call at once when it is aborted, and forgets what is left of it', async () => {
    const { embedder } = setUp();
    const caller = new AbortController();
    const given = embedder.embed(['hang', 'a', 'b', 'c'], 'passage', caller.signal);
    const reason = new Error('the caller left');
    caller.abort(reason);
    await expect(given).rejects.toBe(reason);
    await expect(embedder.embed(['a'], 'query', caller.signal)).rejects.toBe(reason);
  });

  it('fails what is under way and what comes when it is closed', async () => {
    const { embedder } = setUp();
    const calls = [embed(embedder, ['hang']), embed(embedder, ['a']), embed(embedder, ['b'], 'query')];
    const outcomes = Promise.allSettled(calls);
    await embedder.close();
    for (const { status } of await outcomes) expect(status).toBe('rejected');
    await expect(embed(embedder, ['a'])).rejects.toThrow('The embedder is closed.');
    expect(embedder.isLoaded).toBe(false);
  });
});
