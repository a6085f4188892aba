// Knowledge: nDCG@10 on the collections of TEST_DATA_DIR through the API beside a textbook BM25; then the speed of a
// base with vectors from an endpoint: ingest, latency, memory, restart.
// Usage: node bench/knowledge.ts [chunks] [quality|speed]; BENCH_EMBEDDINGS chooses the embedder of the quality run.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { termsOf } from '../server/platform/text/index.ts';
import { queryRows } from '../server/testing/query-rows.ts';
import { freePort, startChild } from './lib/child.ts';
import { ndcg, readCollection, textbookBm25, type Collection } from './lib/collections.ts';
import { inParallel, KnowledgeClient } from './lib/knowledge-client.ts';
import { HOST, ROOT, startBenchService, type BenchService } from './lib/service.ts';
import { cell, printTable, quantile } from './lib/stats.ts';

const CHUNKS = Number(process.argv[2] ?? 20_000);
const PART = process.argv[3] ?? 'all';
const COLLECTIONS = ['cranfield', 'cmrc2018-dev', 'xquad-en'];
const CONNECTIONS = 16;
const QUERIES = 1000;

function openClients(service: BenchService, count: number): Promise<KnowledgeClient[]> {
  return Promise.all(Array.from({ length: count }, () => KnowledgeClient.open(service)));
}

async function countRows(service: BenchService, table: string): Promise<number> {
  const [row] = await queryRows(service.databaseUrl, `select count(*)::int as n from ${table}`);
  return Number(row?.['n']);
}

/** Waits until every passage has its vector. */
async function untilEmbedded(service: BenchService): Promise<void> {
  const chunks = await countRows(service, 'knowledge_chunks');
  while ((await countRows(service, 'knowledge_vectors')) < chunks) await sleep(100);
}

/** nDCG@10 through the API, documents by their best passage. */
async function measureQuality(clients: readonly KnowledgeClient[], base: string, collection: Collection) {
  let sum = 0;
  await inParallel(collection.questions, clients, async (client, question) => {
    const results = await client.query(base, { query: question.text, limit: 50 });
    const found = [...new Set(results.map(({ metadata }) => String(metadata['id'])))];
    sum += ndcg(collection, question, found);
  });
  return sum / collection.questions.length;
}

async function compareQuality(): Promise<void> {
  const embeddings = process.env['BENCH_EMBEDDINGS'] ?? 'off';
  const service = await startBenchService({ EMBEDDINGS: embeddings });
  const clients = await openClients(service, 8);
  const [first] = clients;
  const rows: string[][] = [];
  for (const name of COLLECTIONS) {
    const collection = await readCollection(name);
    const base = (await first?.createBase()) ?? '';
    await inParallel(collection.documents, clients, async (client, { _id, title, text }) => {
      const body = { content: text, ...(title ? { title } : {}), metadata: { id: _id } };
      await client.call('POST', `/${base}/documents`, body);
    });
    if (embeddings !== 'off' && name !== 'cmrc2018-dev') await untilEmbedded(service);
    const ours = await measureQuality(clients, base, collection);
    const find = textbookBm25(collection.documents, termsOf);
    const scores = collection.questions.map((question) => ndcg(collection, question, find(question.text)));
    const textbook = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    rows.push([name, textbook.toFixed(4), ours.toFixed(4)]);
    await first?.call('DELETE', `/${base}`);
  }
  for (const client of clients) client.close();
  await service.stop();
  printTable(`nDCG@10, EMBEDDINGS=${embeddings}`, ['', 'textbook BM25', 'through the API'], rows);
}

/** Texts whose words are as frequent as those of languages are. */
function textMaker(): (words: number) => string {
  let state = 42;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const word = (): string => `w${Math.floor(30_000 ** random()).toString(36)}x`;
  return (words) => Array.from({ length: words }, (_, i) => (i % 12 === 11 ? `${word()}.` : word())).join(' ');
}

async function residentMb({ child }: BenchService): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Uploads documents of about 5,000 characters until there are enough passages; gives passages per second. */
async function ingest(service: BenchService, base: string): Promise<number> {
  const text = textMaker();
  // Four passages each.
  const documents = Array.from({ length: Math.ceil(CHUNKS / 4) }, () => text(1000));
  const clients = await openClients(service, CONNECTIONS);
  const startedAt = performance.now();
  await inParallel([...documents.entries()], clients, async (client, [i, content]) => {
    await client.call('POST', `/${base}/documents`, { content, title: 'document', metadata: { kind: i % 10 } });
  });
  const seconds = (performance.now() - startedAt) / 1000;
  for (const client of clients) client.close();
  return (await countRows(service, 'knowledge_chunks')) / seconds;
}

async function latencies(client: KnowledgeClient, base: string, more: object = {}): Promise<number[]> {
  const text = textMaker();
  text(12_345);
  const samples: number[] = [];
  for (let i = 0; i < QUERIES + 100; i++) {
    const query = text(4 + (i % 9));
    const startedAt = performance.now();
    await client.query(base, { query, ...more });
    if (i >= 100) samples.push(performance.now() - startedAt);
  }
  return samples;
}

/** What a process holds after as many questions to a base of a single passage. */
async function memoryWithout(endpointUrl: string): Promise<number> {
  const service = await startBenchService({ EMBEDDINGS_BASE_URL: endpointUrl });
  const client = await KnowledgeClient.open(service);
  const base = await client.createBase();
  await client.call('POST', `/${base}/documents`, { content: 'w1x' });
  await untilEmbedded(service);
  await latencies(client, base);
  const memory = await residentMb(service);
  client.close();
  await service.stop();
  return memory;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function measureSpeed(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tessera-bench-knowledge-'));
  const port = await freePort();
  const endpoint = await startChild(['bench/lib/embeddings.ts'], {
    cwd: ROOT,
    env: { PORT: String(port) },
    readyUrl: `http://${HOST}:${port}/`,
  });
  const withVectors = { DATA_DIR: dataDir, EMBEDDINGS_BASE_URL: `http://${HOST}:${port}/v1` };
  let service = await startBenchService({ DATA_DIR: dataDir, EMBEDDINGS: 'off' });
  let client = await KnowledgeClient.open(service);
  const base = await client.createBase();
  await client.query(base, { query: 'nothing' });
  const rate = await ingest(service, base);
  const catchUpMs = await timeOf(() => client.query(base, { query: 'w1x' }));
  const words = await latencies(client, base);
  client.close();
  await service.child.stop();

  service = await startBenchService(withVectors);
  const embedMs = await timeOf(() => untilEmbedded(service));
  client = await KnowledgeClient.open(service);
  await client.query(base, { query: 'w1x' });
  await sleep(1000);
  const both = await latencies(client, base);
  const filtered = await latencies(client, base, { filter: { kind: [1, 2] } });
  client.close();
  await service.child.stop();

  const spawnedAt = performance.now();
  service = await startBenchService(withVectors);
  const readyMs = performance.now() - spawnedAt;
  client = await KnowledgeClient.open(service);
  const firstMs = await timeOf(() => client.query(base, { query: 'w1x w2x' }));
  await latencies(client, base);
  const busyMb = await residentMb(service);
  const idleMb = await memoryWithout(withVectors.EMBEDDINGS_BASE_URL);
  client.close();
  const chunks = await countRows(service, 'knowledge_chunks');
  await service.stop();
  await endpoint.stop();
  await rm(dataDir, { recursive: true, force: true });
  printTable(
    `${chunks} passages, vectors of 384 numbers`,
    ['', ''],
    [
      ['ingest, passages/s', cell(rate)],
      ['first query after it, ms', cell(catchUpMs)],
      ['words alone: p50 ms', cell(quantile(words, 0.5))],
      ['words alone: p95 ms', cell(quantile(words, 0.95))],
      ['embedded, passages/s', cell((1000 * chunks) / embedMs)],
      ['words and vectors: p50 ms', cell(quantile(both, 0.5))],
      ['words and vectors: p95 ms', cell(quantile(both, 0.95))],
      ['with a filter that a fifth passes: p95 ms', cell(quantile(filtered, 0.95))],
      ['memory of the base, MB', cell(busyMb - idleMb)],
      ['restart to ready, ms', cell(readyMs)],
      ['ready to first answer, ms', cell(firstMs)],
    ],
  );
}

if (PART !== 'speed') await compareQuality();
if (PART !== 'quality') await measureSpeed();
