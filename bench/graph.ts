// Graphs: first load, the same sync again, traversal at depth 3 and search by name. Ours over HTTP, a recursive query on
// the same database, and Kuzu in this process; in turn, within the same rounds.
// Usage: node bench/graph.ts [rounds]
import { Client } from 'pg';
import { makeGraph, randomNumbers, type BenchEdge, type BenchNode } from './lib/graph-data.ts';
import { RawConnection, requestBytes } from './lib/http-client.ts';
import { loadKuzu } from './lib/kuzu.ts';
import { startBenchService } from './lib/service.ts';
import { cell, median, printTable, quantile } from './lib/stats.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const REQUESTS = 200;
const DEPTH = 3;
const SIZE = { nodes: 50_000, edges: 400_000 };
const NAMES = 100_000;
const WARM_UP_MS = 5000;

const service = await startBenchService();
const sql = new Client({ connectionString: service.databaseUrl });
await sql.connect();
const http = await RawConnection.open({ host: '127.0.0.1', port: service.port });

function ask(path: string, body: unknown): Promise<string> {
  return http.send(requestBytes(service.request('POST', `/v1/graph/${path}`, body)));
}

async function milliseconds(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

async function sync(graph: string, body: string): Promise<number> {
  const request = { ...service.request('POST', `/v1/graph/${graph}/sync`, {}), body };
  const bytes = requestBytes(request);
  return milliseconds(() => http.send(bytes));
}

/** The floor of a load: the same edges in batches into a bare table with one key, nothing checked or counted. */
async function insertBare(edges: readonly BenchEdge[]): Promise<number> {
  await sql.query('create unlogged table if not exists bare (a int, b int, r text, primary key (a, b, r))');
  await sql.query('truncate bare');
  return milliseconds(async () => {
    await sql.query('begin');
    for (let start = 0; start < edges.length; start += 25_000) {
      const some = edges.slice(start, start + 25_000);
      await sql.query('insert into bare select * from unnest($1::int[], $2::int[], $3::text[])', [
        `{${some.map(({ from }) => from.slice(1)).join(',')}}`,
        `{${some.map(({ to }) => to.slice(1)).join(',')}}`,
        `{${some.map(({ relation }) => relation).join(',')}}`,
      ]);
    }
    await sql.query('commit');
  });
}

const RECURSIVE = `with recursive g as (select developer_id, no from graphs where app_id = $1), walk (no, depth) as (
    select n.no, 0 from graph_nodes n join g on n.developer_id = g.developer_id and n.graph_no = g.no
      where n.external_id = $2
    union
    select e.to_no, w.depth + 1 from walk w, g, graph_edges e
      where e.developer_id = g.developer_id and e.graph_no = g.no and e.from_no = w.no and w.depth < $3
  )
  select n.external_id, n.name, w.depth from (select no, min(depth) as depth from walk group by no) w
    join g on true join graph_nodes n on n.no = w.no and n.graph_no = g.no`;
const BY_NAME = `select n.external_id, n.name from graphs g
  join graph_nodes n on n.developer_id = g.developer_id and n.graph_no = g.no
  where g.app_id = $1 and n.name ilike $2 limit 20`;

/** Asks the same for a while: the service then has the graph in memory, which takes it a second or two. */
async function warmUp(path: string, body: unknown): Promise<void> {
  const end = performance.now() + WARM_UP_MS;
  while (performance.now() < end) await ask(path, body);
}

class Samples {
  readonly #byName = new Map<string, number[]>();

  add(name: string, value: number): void {
    this.#byName.set(name, [...(this.#byName.get(name) ?? []), value]);
  }

  print(title: string, header: readonly string[], row: (name: string, values: number[]) => string[]): void {
    printTable(
      title,
      header,
      Array.from(this.#byName, ([name, values]) => [name, ...row(name, values)]),
    );
  }
}

const loads = new Samples();
const walks = new Samples();
const searches = new Samples();
const residents: number[] = [];

/** Resident memory of the service, in MB. */
async function residentMb(): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${service.port}/metrics`);
  const bytes = /^process_resident_memory_bytes (\S+)/m.exec(await answer.text())?.[1];
  return Number(bytes) / 1024 / 1024;
}

async function roundOfLoads(round: number, withProperties: boolean): Promise<void> {
  const { nodes, edges } = makeGraph({ ...SIZE, withProperties });
  const name = `${withProperties ? 'rich' : 'plain'}${round}`;
  const what = withProperties ? ', nodes with properties' : '';
  const body = JSON.stringify({ nodes, edges });
  loads.add(`first sync${what}`, await sync(name, body));
  loads.add(`same sync again${what}`, await sync(name, body));
  if (!withProperties) loads.add('bare insert, edges alone, unlogged', await insertBare(edges));
  const kuzu = await loadKuzu({ nodes, edges });
  if (!withProperties) loads.add('Kuzu, copy from CSV', kuzu.loadMs);
  await sql.query('analyze');
  await warmUp(`${name}/traverse`, { startNode: 'n0', depth: DEPTH, direction: 'outgoing' });
  const random = randomNumbers(round);
  for (let i = 0; i < REQUESTS; i++) {
    const startNode = `n${Math.floor(random() * SIZE.nodes)}`;
    const request = { startNode, depth: DEPTH, direction: 'outgoing' };
    walks.add(`ours${what}`, await milliseconds(() => ask(`${name}/traverse`, request)));
    if (withProperties) continue;
    walks.add('recursive query', await milliseconds(() => sql.query(RECURSIVE, [name, startNode, DEPTH])));
    walks.add('Kuzu', await milliseconds(() => kuzu.graph.traverse(startNode, DEPTH)));
  }
  await kuzu.graph.close();
}

/** What people type: a name, its beginning, a part of it, a slip, and what stands nowhere. */
function queriesOf({ name }: BenchNode): string[] {
  const middle = Math.floor(name.length / 2);
  const slip = name.slice(0, middle) + name.slice(middle + 1);
  return [name, name.slice(0, 5), name.slice(2, 6), slip, `${name.slice(0, 3)}qqq`];
}

async function roundOfSearches(round: number): Promise<void> {
  const { nodes } = makeGraph({ nodes: NAMES, edges: 0, withProperties: true });
  if (round === 0) await sync('names', JSON.stringify({ nodes }));
  const kuzu = await loadKuzu({ nodes, edges: [] });
  await warmUp('names/search', { query: 'san' });
  const random = randomNumbers(round + 100);
  for (let i = 0; i < REQUESTS / 5; i++) {
    const node = nodes[Math.floor(random() * nodes.length)];
    for (const query of node ? queriesOf(node) : []) {
      searches.add('ours', await milliseconds(() => ask('names/search', { query })));
      searches.add('ilike', await milliseconds(() => sql.query(BY_NAME, ['names', `%${query}%`])));
      searches.add('Kuzu, contains', await milliseconds(() => kuzu.graph.search(query.toLowerCase())));
    }
  }
  await kuzu.graph.close();
}

for (let round = 0; round < ROUNDS; round++) {
  await roundOfLoads(round, false);
  await roundOfLoads(round, true);
  await roundOfSearches(round);
  residents.push(await residentMb());
}

const timings = (_name: string, values: number[]): string[] => [0.5, 0.95, 0.99].map((q) => cell(quantile(values, q)));
loads.print(
  `${SIZE.edges} edges between ${SIZE.nodes} nodes, ${ROUNDS} rounds`,
  ['load', 'ms', 'edges/s'],
  (_n, all) => [cell(median(all)), cell(SIZE.edges / (median(all) / 1000))],
);
walks.print(`traverse to depth ${DEPTH}`, ['who', 'p50 ms', 'p95 ms', 'p99 ms'], timings);
searches.print(`search by name in ${NAMES} nodes`, ['who', 'p50 ms', 'p95 ms', 'p99 ms'], timings);
printTable(
  'resident memory of the service',
  ['after round', 'MB'],
  residents.map((mb, i) => [String(i + 1), cell(mb)]),
);
http.close();
await sql.end();
await service.stop();
