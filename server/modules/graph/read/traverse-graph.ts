import type { traverseGraph as contract } from '../../../../contract/routes/graph.ts';
import type { RouteInput, RouteOutput } from '../../../../contract/shared/route.ts';
import { noSuchNode } from '../graph-name.ts';
import type { Graphs } from '../graphs.ts';
import { findGraph, type GraphName } from '../store/graph-row.ts';
import { parseProperties } from '../store/read-nodes.ts';
import { databaseView, memoryView, type EdgesRead, type GraphView, type NodesRead } from './graph-view.ts';
import { walk, type Walk } from './walk.ts';

type Body = RouteInput<typeof contract>['body'];
type Answer = RouteOutput<typeof contract>;
type Path = Answer['paths'][number];

/** A graph as of now: from memory where it is there. */
async function viewOf({ database, hot }: Graphs, name: GraphName): Promise<GraphView | undefined> {
  const row = await findGraph(database, name);
  if (!row) return undefined;
  const index = await hot.current(row);
  return index ? memoryView(database, row, index) : databaseView(database, row);
}

/** A shortest path to each node that was reached; one that leads over a node that was deleted since is left out. */
function pathsOf({ reached }: Walk, nodes: NodesRead, edges: EdgesRead): ReadonlyMap<number, Path> {
  const byNo = new Map<number, Path>();
  for (const { no, depth, before, relation } of reached) {
    const [start, node] = [nodes.byNo.get(before), nodes.byNo.get(no)];
    const way = depth === 1 ? start && { nodes: [start.externalId], relations: [] } : byNo.get(before);
    if (!way || !node) continue;
    byNo.set(no, {
      nodes: [...way.nodes, node.externalId],
      relations: [...way.relations, edges.relationOfNo(relation)],
    });
  }
  return byNo;
}

async function stroll(view: GraphView, starts: readonly number[], body: Body): Promise<Walk> {
  const { depth = 1, direction = 'both' } = body;
  const relation = body.relation === undefined ? undefined : await view.relationNo(body.relation);
  if (body.relation !== undefined && relation === undefined) return { reached: [], edges: [], truncated: false };
  const query = { direction, relation };
  return walk({ starts, depth, ...query, sidesOf: (nodes) => view.sidesOf(nodes, query) });
}

/** Follows edges from the node, or the nodes, that a reference names. Throws NOT_FOUND when there is none. */
export async function traverseGraph(graphs: Graphs, name: GraphName, body: Body): Promise<Answer> {
  const view = await viewOf(graphs, name);
  const starts = (await view?.startsOf(body.startNode)) ?? [];
  if (!view || starts.length === 0) throw noSuchNode(body.startNode);
  const found = await stroll(view, starts, body);
  const nodes = await view.readNodes([...starts, ...found.reached.map(({ no }) => no)]);
  const edges = await view.readEdges(found.edges, nodes);
  const paths = pathsOf(found, nodes, edges);
  return {
    startNode: body.startNode,
    startNodes: starts.flatMap((no) => nodes.byNo.get(no) ?? []),
    nodes: found.reached.flatMap(({ no, depth }) => {
      const node = paths.has(no) ? nodes.byNo.get(no) : undefined;
      return node ? [{ ...node, depth }] : [];
    }),
    edges: edges.rows.map((edge) => ({ ...edge, properties: parseProperties(edge.properties) })),
    paths: [...paths.values()],
    truncated: found.truncated || nodes.isCut,
  };
}
