import { afterEach, expect, test } from 'vitest';
import { databaseUrlOf, makeDataDir } from '../testing/data-dirs.ts';
import { queryRows } from '../testing/query-rows.ts';
import { ADMIN_KEY, callApi, pick, pickText } from '../testing/start-test-app.ts';
import { cleanUpProcesses, startProcess, type ServiceProcess } from '../testing/start-process.ts';

afterEach(cleanUpProcesses);

const WRITERS = 6;
const ROUNDS = 4;
const ENOUGH = 20;

/** Documents of three sizes; the largest has a transaction of its own. */
const SIZES = [1, 20, 400];

function contentOf(title: string, size: number): string {
  return Array.from({ length: size }, (_, i) => `## part ${i}\n${`${title} `.repeat(20)}\n`).join('\n');
}

interface Upload {
  title: string;
  size: number;
}

/** Uploads until the service goes away; adds what was acknowledged. */
async function uploadAll(service: ServiceProcess, base: string, acknowledged: Upload[]): Promise<void> {
  for (let i = 0; ; i++) {
    const upload = { title: `d${acknowledged.length}-${Math.random()}`, size: SIZES[i % SIZES.length] ?? 1 };
    const body = { title: upload.title, content: contentOf(upload.title, upload.size) };
    const path = `/v1/knowledge/${base}/documents`;
    try {
      const answer = await callApi(service.url, { method: 'POST', path, key: ADMIN_KEY, body });
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    } catch (error) {
      // fetch reports a connection that broke, or was refused, in this way.
      if (error instanceof TypeError) return;
      throw error;
    }
    acknowledged.push(upload);
  }
}

const SNAPSHOT = `select (select document_count from knowledge_bases) as counted,
  (select count(*)::int from outbox_events where type = 'knowledge.updated') as events,
  (select json_object_agg(title, (select count(*) from knowledge_chunks c
    where c.developer_id = d.developer_id and c.base_no = d.base_no and c.document_no = d.no)) from knowledge_documents d) as chunks`;

test('a kill during uploads leaves all of each document or nothing', { timeout: 120_000 }, async () => {
  const dataDir = await makeDataDir();
  const env = { BOOTSTRAP_API_KEY: ADMIN_KEY, EMBEDDINGS: 'off', ENTERPRISE_PER_MINUTE: '10000000' };
  let service = await startProcess({ dataDir, env });
  const created = await callApi(service.url, {
    method: 'POST',
    path: '/v1/knowledge',
    key: ADMIN_KEY,
    body: { name: 'b' },
  });
  const base = pickText(created.body, '_id');
  const acknowledged: Upload[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = acknowledged.length;
    const { url } = service;
    const writers = Array.from({ length: WRITERS }, () => uploadAll(service, base, acknowledged));
    await expect.poll(() => acknowledged.length - before, { timeout: 20_000, interval: 5 }).toBeGreaterThan(ENOUGH);
    await (round % 2 === 0 ? service.kill() : service.killAll());
    await Promise.all(writers);
    service = await startProcess({ dataDir, env });
    expect(service.url).not.toBe(url);

    const [snapshot] = await queryRows(databaseUrlOf(dataDir), SNAPSHOT);
    const chunks = Object.entries(Object(pick(snapshot, 'chunks')));
    expect(snapshot).toMatchObject({ counted: chunks.length, events: chunks.length });
    const stored = new Map(chunks);
    expect(acknowledged.filter(({ title, size }) => stored.get(title) !== size)).toEqual([]);
    expect(chunks.filter(([, count]) => !SIZES.includes(Number(count)))).toEqual([]);
    const last = acknowledged.at(-1)?.title ?? '';
    const query = {
      method: 'POST',
      path: `/v1/knowledge/${base}/query`,
      key: ADMIN_KEY,
      body: { query: last, limit: 1 },
    };
    expect(pick((await callApi(service.url, query)).body, 'results', 0)).toMatchObject({ source: last });
  }
  expect((await service.stop()).code).toBe(0);
});
