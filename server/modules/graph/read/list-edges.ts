import type { listGraphEdges as contract } from '../../../../contract/routes/graph.ts';
import type { RouteInput } from '../../../../contract/shared/route.ts';
import type { Graphs } from '../graphs.ts';
import { findGraph, type GraphName } from '../store/graph-row.ts';
import { readEdges, readPendingEdges, type EdgeRow } from '../store/read-edges.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { constant, JsonWriter } from './json-writer.ts';
import { edgeWriter, END, writePageEnd } from './write-parts.ts';

const DEFAULT_PAGE = 100;

const EDGES = constant('{"edges":[');
const EDGES_END = constant(']');
const PENDING = constant(',"pending":true}');

interface Page {
  edges: readonly EdgeRow[];
  isPending: boolean;
  nextCursor?: string | undefined;
}

function writePage(appId: string, { edges, isPending, nextCursor }: Page): Buffer {
  const json = new JsonWriter();
  const writeEdge = edgeWriter(json, appId);
  json.raw(EDGES);
  json.list(edges, (edge) => writeEdge(edge, isPending ? PENDING : END));
  json.raw(EDGES_END);
  writePageEnd(json, nextCursor);
  return json.finish();
}

/** A page of edges: the connected ones, or the pending ones. */
export async function listEdges(
  { database }: Graphs,
  name: GraphName,
  query: RouteInput<typeof contract>['query'],
): Promise<Buffer> {
  const { pending: isPending = false, limit = DEFAULT_PAGE, cursor, from, to, relation } = query;
  const type = isPending ? 'string' : 'number';
  const after = cursor === undefined ? undefined : readCursor(cursor, [type, type, type]);
  const graph = await findGraph(database, name);
  if (!graph) return writePage(name.appId, { edges: [], isPending });
  const read = isPending ? readPendingEdges : readEdges;
  const { edges, hasMore } = await read(database, graph, { from, to, relation, after, limit });
  const last = hasMore ? edges.at(-1) : undefined;
  return writePage(name.appId, { edges, isPending, nextCursor: last && writeCursor(last.place) });
}
