import type { listGraphEdges as contract } from '../../../../contract/routes/graph.ts';
import type { RouteInput, RouteOutput } from '../../../../contract/shared/route.ts';
import type { Graphs } from '../graphs.ts';
import { findGraph, type GraphName } from '../store/graph-row.ts';
import { readEdges, readPendingEdges, wireEdge } from '../store/read-edges.ts';
import { readCursor, writeCursor } from './cursor.ts';

const DEFAULT_PAGE = 100;

/** A page of edges: the connected ones, or the pending ones. */
export async function listEdges(
  { database }: Graphs,
  name: GraphName,
  query: RouteInput<typeof contract>['query'],
): Promise<RouteOutput<typeof contract>> {
  const { pending: isPending = false, limit = DEFAULT_PAGE, cursor, from, to, relation } = query;
  const type = isPending ? 'string' : 'number';
  const after = cursor === undefined ? undefined : readCursor(cursor, [type, type, type]);
  const graph = await findGraph(database, name);
  if (!graph) return { edges: [] };
  const read = isPending ? readPendingEdges : readEdges;
  const { edges, hasMore } = await read(database, graph, { from, to, relation, after, limit });
  const last = hasMore ? edges.at(-1) : undefined;
  return {
    edges: edges.map((edge) => ({
      ...wireEdge(name.appId, edge),
      ...(isPending ? { pending: true as const } : {}),
    })),
    ...(last ? { nextCursor: writeCursor(last.place) } : {}),
  };
}
