import type { traverseGraph as contract } from '../../../../contract/routes/graph.ts';
import type { RouteInput } from '../../../../contract/shared/route.ts';
import { noSuchNode } from '../graph-name.ts';
import type { Graphs } from '../graphs.ts';
import { findGraph, type GraphName } from '../store/graph-row.ts';
import { databaseView, memoryView, type EdgesRead, type GraphView, type NodesRead } from './graph-view.ts';
import { walk, type Walk } from './walk.ts';
import { writeTraversal, type Reached } from './write-traversal.ts';

type Body = RouteInput<typeof contract>['body'];

/** A graph as of now: from memory where it is there. */
async function viewOf({ database, hot }: Graphs, name: GraphName): Promise<GraphView | undefined> {
  const row = await findGraph(database, name);
  if (!row) return undefined;
  const index = await hot.current(row);
  return index ? memoryView(database, row, index) : databaseView(database, row);
}

/** What was reached; a node whose way leads over one that was deleted since is left out. */
function toldOf({ reached }: Walk, nodes: NodesRead, edges: EdgesRead): Reached[] {
  const told: Reached[] = [];
  const ways = new Set<number>();
  for (const { no, depth, before, relation } of reached) {
    const [way, node] = [nodes.byNo.get(before), nodes.byNo.get(no)];
    if (!way || !node || (depth > 1 && !ways.has(before))) continue;
    ways.add(no);
    told.push({ node, depth, before: way, relation: edges.relationOfNo(relation) });
  }
  return told;
}

async function stroll(view: GraphView, starts: readonly number[], body: Body): Promise<Walk> {
  const { depth = 1, direction = 'both' } = body;
  const relation = body.relation === undefined ? undefined : await view.relationNo(body.relation);
  if (body.relation !== undefined && relation === undefined) return { reached: [], edges: [], truncated: false };
  const query = { direction, relation };
  return walk({ starts, depth, ...query, sidesOf: (nodes) => view.sidesOf(nodes, query) });
}

/**
 * Follows edges from the node, or the nodes, that a reference names, and writes the answer. Throws NOT_FOUND when there
 * is none.
 */
export async function traverseGraph(graphs: Graphs, name: GraphName, body: Body): Promise<Buffer> {
  const view = await viewOf(graphs, name);
  const starts = (await view?.startsOf(body.startNode)) ?? [];
  if (!view || starts.length === 0) throw noSuchNode(body.startNode);
  const found = await stroll(view, starts, body);
  const nodes = await view.readNodes([...starts, ...found.reached.map(({ no }) => no)]);
  const edges = await view.readEdges(found.edges, nodes);
  return writeTraversal({
    appId: name.appId,
    startNode: body.startNode,
    starts: starts.flatMap((no) => nodes.byNo.get(no) ?? []),
    reached: toldOf(found, nodes, edges),
    edges: edges.rows,
    truncated: found.truncated || nodes.cutAt !== undefined || edges.isCut,
  });
}
