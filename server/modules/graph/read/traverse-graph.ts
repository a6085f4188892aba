import type { traverseGraph as contract } from '../../../../contract/routes/graph.ts';
import type { RouteInput, RouteOutput } from '../../../../contract/shared/route.ts';
import { noSuchNode } from '../graph-name.ts';
import type { Graphs } from '../graphs.ts';
import { findGraph, type GraphName } from '../store/graph-row.ts';
import { parseProperties } from '../store/read-nodes.ts';
import { databaseView, memoryView, type GraphView, type NodesRead } from './graph-view.ts';
import { walk, type Walk } from './walk.ts';

type Body = RouteInput<typeof contract>['body'];
type Answer = RouteOutput<typeof contract>;

/** A graph as of now: from memory where it is there. */
async function viewOf({ database, hot }: Graphs, name: GraphName): Promise<GraphView | undefined> {
  const row = await findGraph(database, name);
  if (!row) return undefined;
  const index = await hot.current(row);
  return index ? memoryView(database, row, index) : databaseView(database, row);
}

/** A shortest path to each node that was reached. */
function pathsOf({ reached }: Walk, nodes: NodesRead, relationOfEdge: ReadonlyMap<number, string>): Answer['paths'] {
  const byNo = new Map<number, Answer['paths'][number]>();
  return reached.map(({ no, before, relation }) => {
    const start = nodes.byNo.get(before)?.externalId ?? '';
    const way = byNo.get(before) ?? { nodes: [start], relations: [] };
    const path = {
      nodes: [...way.nodes, nodes.byNo.get(no)?.externalId ?? ''],
      relations: [...way.relations, relationOfEdge.get(relation) ?? ''],
    };
    byNo.set(no, path);
    return path;
  });
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
  const relations = new Map(edges.map(({ relation }, i) => [(found.edges[i]?.label ?? 0) >> 1, relation]));
  return {
    startNode: body.startNode,
    startNodes: starts.flatMap((no) => nodes.byNo.get(no) ?? []),
    nodes: found.reached.flatMap(({ no, depth }) => {
      const node = nodes.byNo.get(no);
      return node ? [{ ...node, depth }] : [];
    }),
    edges: edges.map((edge) => ({ ...edge, properties: parseProperties(edge.properties) })),
    paths: pathsOf(found, nodes, relations),
    truncated: found.truncated || nodes.isCut,
  };
}
