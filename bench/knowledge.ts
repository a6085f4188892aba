// Knowledge: nDCG@10 on the collections of TEST_DATA_DIR through the API, beside a textbook BM25 of whole documents and of
// pieces of a fixed size; then the speed of a base with vectors from an endpoint: ingest, latency (also meanwhile), holds
// of the event loop, memory, restart.
// Usage: node bench/knowledge.ts [chunks] [quality|speed]; BENCH_EMBEDDINGS chooses the embedder of the quality run.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { termsOf } from '../server/platform/text/index.ts';
import { queryRows } from '../server/testing/query-rows.ts';
import { freePort, startChild } from './lib/child.ts';
import { fixedPieces, ndcg, readCollection, textbookBm25, type Collection } from './lib/collections.ts';
import { Holds } from './lib/holds.ts';
import { inParallel, KnowledgeClient } from './lib/knowledge-client.ts';
import { HOST, ROOT, startBenchService, type BenchService } from './lib/service.ts';
import { cell, printTable, quantile } from './lib/stats.ts';

const CHUNKS = Number(process.argv[2] ?? 20_000);
const PART = process.argv[3] ?? 'all';
const COLLECTIONS = ['cranfield', 'cmrc2018-dev', 'xquad-en'];
const CONNECTIONS = 16;
const QUERIES = 1000;
/** Its defaults for BM25. */
const ELASTICSEARCH = { k1: 1.2, b: 0.75 };
/** Between two queries while documents are uploaded. */
const QUERY_PAUSE_MS = 20;

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

function qualityOf(collection: Collection, find: (question: string) => string[]): number {
  const scores = collection.questions.map((question) => ndcg(collection, question, find(question.text)));
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
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
    const textbook = qualityOf(collection, textbookBm25(collection.documents, termsOf));
    const pieces = qualityOf(collection, textbookBm25(fixedPieces(collection.documents), termsOf, ELASTICSEARCH));
    rows.push([name, textbook.toFixed(4), pieces.toFixed(4), ours.toFixed(4)]);
    await first?.call('DELETE', `/${base}`);
  }
  for (const client of clients) client.close();
  await service.stop();
  printTable(`nDCG@10, EMBEDDINGS=${embeddings}`, ['', 'textbook BM25', 'pieces of 500', 'through the API'], rows);
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

/** Uploads documents of about 5,000 characters until there are enough passages; gives seconds. */
async function ingest(service: BenchService, base: string, chunks: number): Promise<number> {
  const text = textMaker();
  // Four passages each.
  const documents = Array.from({ length: Math.ceil(chunks / 4) }, () => text(1000));
  const clients = await openClients(service, CONNECTIONS);
  const ms = await timeOf(() =>
    inParallel([...documents.entries()], clients, async (client, [i, content]) => {
      await client.call('POST', `/${base}/documents`, { content, title: 'document', metadata: { kind: i % 10, i } });
    }),
  );
  for (const client of clients) client.close();
  return ms / 1000;
}

/** How long queries take, one after the other, until something is done. */
async function latenciesDuring(client: KnowledgeClient, base: string, work: Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  const isDone = work.then(() => true);
  do samples.push(await timeOf(() => client.query(base, { query: 'w1x w2x w33x' })));
  while (!(await Promise.race([isDone, sleep(QUERY_PAUSE_MS, false)])));
  return samples;
}

/** How long the first query takes after each of some short documents. */
async function latenciesAfterOne(client: KnowledgeClient, base: string): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < 50; i++) {
    await client.call('POST', `/${base}/documents`, { content: `news ${i}`, title: 'short' });
    samples.push(await timeOf(() => client.query(base, { query: `news ${i}` })));
  }
  return samples;
}

type Rows = string[][];

function line(name: string, value: number): string[] {
  return [name, cell(value)];
}

/** Into one base alone, and then into another that is asked at the same time. */
async function measureIngest(service: BenchService, base: string, holds: Holds): Promise<Rows> {
  let client = await KnowledgeClient.open(service);
  const asked = await client.createBase();
  await holds.longestMs(service);
  const seconds = await ingest(service, base, CHUNKS);
  client.close();
  client = await KnowledgeClient.open(service);
  const firstQueryMs = await timeOf(() => client.query(base, { query: 'w1x' }));
  const meanwhile = await latenciesDuring(client, asked, ingest(service, asked, CHUNKS / 4));
  const holdMs = await holds.longestMs(service);
  const afterOne = await latenciesAfterOne(client, asked);
  await client.call('DELETE', `/${asked}`);
  client.close();
  return [
    line('ingest, passages/s', CHUNKS / seconds),
    line('first query after it, ms', firstQueryMs),
    line('queries during another one: p50 ms', quantile(meanwhile, 0.5)),
    line('queries during another one: p95 ms', quantile(meanwhile, 0.95)),
    line('longest hold of the event loop meanwhile, ms', holdMs),
    line('query right after a short document: p50 ms', quantile(afterOne, 0.5)),
  ];
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

/** A service that was started anew: how soon it answers, and what the base takes. */
async function measureRestart(env: Record<string, string>, base: string, holds: Holds): Promise<Rows> {
  const spawnedAt = performance.now();
  const service = await startBenchService({ ...env, ...holds.env });
  const readyMs = performance.now() - spawnedAt;
  const client = await KnowledgeClient.open(service);
  await holds.longestMs(service);
  const firstMs = await timeOf(() => client.query(base, { query: 'w1x w2x' }));
  const holdMs = await holds.longestMs(service);
  await latencies(client, base);
  const busyMb = await residentMb(service);
  const idleMb = await memoryWithout(env['EMBEDDINGS_BASE_URL'] ?? '');
  client.close();
  await service.stop();
  return [
    line('memory of the base, MB', busyMb - idleMb),
    line('restart to ready, ms', readyMs),
    line('ready to first answer, ms', firstMs),
    line('longest hold of the event loop for it, ms', holdMs),
  ];
}

/** Queries of a base that is given its vectors first. */
async function measureVectors(env: Record<string, string>, base: string): Promise<Rows> {
  const service = await startBenchService(env);
  const embedMs = await timeOf(() => untilEmbedded(service));
  const client = await KnowledgeClient.open(service);
  await client.query(base, { query: 'w1x' });
  await sleep(1000);
  const both = await latencies(client, base);
  const filtered = await latencies(client, base, { filter: { kind: [1, 2] } });
  const chunks = await countRows(service, 'knowledge_chunks');
  client.close();
  await service.child.stop();
  return [
    line('embedded, passages/s', (1000 * chunks) / embedMs),
    line('words and vectors: p50 ms', quantile(both, 0.5)),
    line('words and vectors: p95 ms', quantile(both, 0.95)),
    line('with a filter that a fifth passes: p95 ms', quantile(filtered, 0.95)),
  ];
}

async function measureSpeed(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tessera-bench-knowledge-'));
  const port = await freePort();
  const endpoint = await startChild(['bench/lib/embeddings.ts'], {
    cwd: ROOT,
    env: { PORT: String(port) },
    readyUrl: `http://${HOST}:${port}/`,
  });
  const holds = new Holds();
  const service = await startBenchService({ DATA_DIR: dataDir, EMBEDDINGS: 'off', ...holds.env });
  const client = await KnowledgeClient.open(service);
  const base = await client.createBase();
  client.close();
  const ingested = await measureIngest(service, base, holds);
  const asking = await KnowledgeClient.open(service);
  const words = await latencies(asking, base);
  asking.close();
  await service.child.stop();
  const withVectors = { DATA_DIR: dataDir, EMBEDDINGS_BASE_URL: `http://${HOST}:${port}/v1` };
  const rows = [
    ...ingested,
    line('words alone: p50 ms', quantile(words, 0.5)),
    line('words alone: p95 ms', quantile(words, 0.95)),
    ...(await measureVectors(withVectors, base)),
    ...(await measureRestart(withVectors, base, holds)),
  ];
  await endpoint.stop();
  await holds.close();
  await rm(dataDir, { recursive: true, force: true });
  printTable(`${CHUNKS} passages, vectors of 384 numbers`, ['', ''], rows);
}

if (PART !== 'speed') await compareQuality();
if (PART !== 'quality') await measureSpeed();
