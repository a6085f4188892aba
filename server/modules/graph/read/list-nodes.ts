import type { listGraphNodes as contract } from '../../../../contract/routes/graph.ts';
import type { RouteInput } from '../../../../contract/shared/route.ts';
import { AppError } from '../../../platform/errors/index.ts';
import type { Graphs } from '../graphs.ts';
import { findGraph, type GraphName, type GraphRow } from '../store/graph-row.ts';
import { countNodes, readNodePage, type NodeFilter, type NodeRow } from '../store/read-nodes.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { constant, JsonWriter } from './json-writer.ts';
import { matchesOf } from './match-nodes.ts';
import { nodeWriter, writePageEnd } from './write-parts.ts';

type Query = RouteInput<typeof contract>['query'];

interface Page {
  nodes: readonly NodeRow[];
  total: number;
  nextCursor?: string | undefined;
}

const DEFAULT_PAGE = 100;
const NODES = constant('{"nodes":[');
const TOTAL = constant('],"total":');

/** The filter on properties, as JSON text. */
function propertyFilter(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || text.includes('\\u0000')) {
    throw new AppError('INVALID_REQUEST', 'properties must be a JSON object.');
  }
  return JSON.stringify(value);
}

async function listAll(graphs: Graphs, row: GraphRow, page: Query & { filter: NodeFilter }): Promise<Page> {
  const { filter, limit = DEFAULT_PAGE, cursor } = page;
  const after = cursor === undefined ? '' : String(readCursor(cursor, ['string'])[0]);
  const isFiltered = filter.objectType !== undefined || filter.properties !== undefined;
  const [rows, total] = await Promise.all([
    readNodePage(graphs.database, row, { filter, after, limit: limit + 1 }),
    isFiltered ? countNodes(graphs.database, row, filter) : row.nodeCount,
  ]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  // A page of large properties ends early.
  const mayHaveMore = last !== undefined && (rows.length > limit || rows.length < total);
  const hasMore =
    mayHaveMore &&
    (rows.length > limit ||
      (await readNodePage(graphs.database, row, { filter, after: last.externalId, limit: 1 })).length > 0);
  return { nodes: shown, total, nextCursor: hasMore ? writeCursor([last.externalId]) : undefined };
}

async function listNamed(
  graphs: Graphs,
  row: GraphRow,
  query: Query & { filter: NodeFilter; name: string },
): Promise<Page> {
  const { filter, name, limit = DEFAULT_PAGE, cursor } = query;
  const start = cursor === undefined ? 0 : Number(readCursor(cursor, ['number'])[0]);
  const { nos, readNodes } = await matchesOf(graphs, row, { text: name, withProperties: false, filter });
  const page = nos.slice(start, start + limit);
  const { byNo, cutAt } = await readNodes(page);
  // A page of large properties ends early.
  const shown = cutAt === undefined ? page : page.slice(0, page.indexOf(cutAt));
  const end = start + shown.length;
  return {
    nodes: shown.flatMap((no) => byNo.get(no) ?? []),
    total: nos.length,
    nextCursor: end < nos.length ? writeCursor([end]) : undefined,
  };
}

function writePage(appId: string, { nodes, total, nextCursor }: Page): Buffer {
  const json = new JsonWriter();
  const writeNode = nodeWriter(json, appId);
  json.raw(NODES);
  json.list(nodes, (node) => writeNode(node));
  json.raw(TOTAL);
  json.json(String(total));
  writePageEnd(json, nextCursor);
  return json.finish();
}

/** A page of nodes: in order of externalId, or those of a similar name, best first. */
export async function listNodes(graphs: Graphs, graphName: GraphName, query: Query): Promise<Buffer> {
  const { object_type: objectType, name } = query;
  const filter = { objectType, properties: propertyFilter(query.properties) };
  const row = await findGraph(graphs.database, graphName);
  if (!row) return writePage(graphName.appId, { nodes: [], total: 0 });
  const page =
    name === undefined || name === ''
      ? await listAll(graphs, row, { ...query, filter })
      : await listNamed(graphs, row, { ...query, filter, name });
  return writePage(row.appId, page);
}
