import type { searchGraph as contract } from '../../../../contract/routes/graph.ts';
import { GRAPH_LIMITS, type GraphNode } from '../../../../contract/shared/graph-shapes.ts';
import type { RouteInput, RouteOutput } from '../../../../contract/shared/route.ts';
import type { Graphs } from '../graphs.ts';
import { findGraph, type GraphName } from '../store/graph-row.ts';
import { wireEdge } from '../store/read-edges.ts';
import { wireNode } from '../store/read-nodes.ts';
import { matchesOf, type Matches } from './match-nodes.ts';
import type { WalkEdge } from './walk.ts';

type Body = RouteInput<typeof contract>['body'];
type Answer = RouteOutput<typeof contract>;

const DEFAULT_LIMIT = 20;
/** Edges that one search tells of. */
const MOST_EDGES = 5000;

interface Surroundings {
  neighbors: number[];
  edges: WalkEdge[];
  truncated: boolean;
}

/** The edges of matches, and the nodes at their other ends. */
async function surroundingsOf(matches: Matches, nos: readonly number[]): Promise<Surroundings> {
  const sides = await matches.sidesOf(nos, { direction: 'both' });
  const inside = new Set(nos);
  const neighbors = new Set<number>();
  const edges: WalkEdge[] = [];
  let truncated = sides.isCut === true;
  const take = (edge: WalkEdge, other: number): void => {
    const isKnown = inside.has(other) || neighbors.has(other);
    if (edges.length >= MOST_EDGES || (!isKnown && neighbors.size >= GRAPH_LIMITS.neighbors)) {
      truncated = true;
      return;
    }
    if (!isKnown) neighbors.add(other);
    edges.push(edge);
  };
  for (const no of nos) {
    sides.out?.each(no, (other, label) => take({ from: no, to: other, label }, other));
    // An edge between two matches was taken from its beginning.
    sides.in?.each(no, (other, label) => inside.has(other) || take({ from: other, to: no, label }, other));
  }
  return { neighbors: [...neighbors], edges, truncated };
}

/** Nodes that match a text, best first, with what is around them. */
export async function searchGraph(graphs: Graphs, name: GraphName, body: Body): Promise<Answer> {
  const { query = '', limit = DEFAULT_LIMIT, includeNeighbors = true } = body;
  const row = await findGraph(graphs.database, name);
  if (!row) return { nodes: [], neighbors: [], edges: [], total: 0, truncated: false };
  const properties = body.properties === undefined ? undefined : JSON.stringify(body.properties);
  const filter = { objectType: body.object_type, properties };
  const matches = await matchesOf(graphs, row, { text: query, withProperties: true, filter });
  const shown = matches.nos.slice(0, limit);
  const around: Surroundings = includeNeighbors
    ? await surroundingsOf(matches, shown)
    : { neighbors: [], edges: [], truncated: false };
  const nodes = await matches.readNodes([...shown, ...around.neighbors]);
  const wire = (no: number): GraphNode[] => {
    const node = nodes.byNo.get(no);
    return node ? [wireNode(name.appId, node)] : [];
  };
  const edges = await matches.readEdges(around.edges, nodes);
  return {
    nodes: shown.flatMap(wire),
    neighbors: around.neighbors.flatMap(wire),
    edges: edges.rows.map((edge) => wireEdge(name.appId, edge)),
    total: matches.nos.length,
    truncated: around.truncated || nodes.cutAt !== undefined || edges.isCut,
  };
}
