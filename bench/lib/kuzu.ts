import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BenchEdge, BenchNode } from './graph-data.ts';
import { ROOT } from './service.ts';

const PACKAGE = 'kuzu@0.11.3';
const FOLDER = join(ROOT, 'node_modules/.cache/tessera-bench/kuzu');

/** What is used of its driver. */
interface Kuzu {
  Database: new (path: string) => { close: () => Promise<void> };
  Connection: new (database: object) => KuzuConnection;
}
interface KuzuConnection {
  query: (text: string) => Promise<KuzuResult>;
  prepare: (text: string) => Promise<object>;
  execute: (statement: object, values: Record<string, unknown>) => Promise<KuzuResult>;
  close: () => Promise<void>;
}
interface KuzuResult {
  getAll: () => Promise<Record<string, unknown>[]>;
}

/** Safe for the version that is installed: its type declarations say so. */
function asKuzu(value: unknown): Kuzu {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as Kuzu;
}

/** Installs the peer beside the project, once: 550 MB with its sources, and no longer maintained. */
async function install(): Promise<Kuzu> {
  const entry = join(FOLDER, 'node_modules/kuzu/kuzujs.node');
  if (!existsSync(entry)) {
    await mkdir(FOLDER, { recursive: true });
    await writeFile(join(FOLDER, 'package.json'), '{"private":true,"allowScripts":{"kuzu":true}}');
    await promisify(execFile)('npm', ['install', '--no-save', PACKAGE], { cwd: FOLDER });
  }
  return asKuzu(createRequire(join(FOLDER, 'package.json'))('kuzu'));
}

/** A graph in Kuzu, in this process and on disk. */
export interface KuzuGraph {
  /** Nodes within so many steps, along the edges. */
  traverse: (start: string, depth: number) => Promise<Record<string, unknown>[]>;
  search: (text: string) => Promise<Record<string, unknown>[]>;
  close: () => Promise<void>;
}

function csv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n');
}

/** Loads a graph the fastest way that Kuzu has, from CSV files that are not counted; tells the milliseconds. */
export async function loadKuzu(graph: {
  nodes: readonly BenchNode[];
  edges: readonly BenchEdge[];
}): Promise<{ graph: KuzuGraph; loadMs: number }> {
  const { Database, Connection } = await install();
  const folder = await mkdtemp(join(tmpdir(), 'tessera-bench-kuzu-'));
  const [nodes, edges] = [join(folder, 'nodes.csv'), join(folder, 'edges.csv')];
  await writeFile(nodes, csv(graph.nodes.map(({ externalId, name, type }) => [externalId, name, type])));
  await writeFile(edges, csv(graph.edges.map(({ from, to, relation }) => [from, to, relation])));
  const database = new Database(join(folder, 'graph'));
  const connection = new Connection(database);
  const startedAt = performance.now();
  await connection.query('create node table Node (id string primary key, name string, kind string)');
  await connection.query('create rel table Edge (from Node to Node, relation string)');
  await connection.query(`copy Node from '${nodes}'`);
  await connection.query(`copy Edge from '${edges}'`);
  const loadMs = performance.now() - startedAt;
  const walks = new Map<number, object>();
  for (const depth of [1, 2, 3]) {
    const text = `match (a:Node {id: $id})-[e:Edge* shortest 1..${depth}]->(b:Node)
      return b.id, b.name, b.kind, length(e)`;
    walks.set(depth, await connection.prepare(text));
  }
  const search = await connection.prepare(
    'match (n:Node) where contains(lower(n.name), $text) return n.id, n.name, n.kind limit 20',
  );
  const run = async (statement: object, values: Record<string, unknown>) =>
    (await connection.execute(statement, values)).getAll();
  return {
    loadMs,
    graph: {
      traverse: (start, depth) => run(walks.get(depth) ?? {}, { id: start }),
      search: (text) => run(search, { text }),
      close: async () => {
        await connection.close();
        await database.close();
        await rm(folder, { recursive: true, force: true });
      },
    },
  };
}
