import type { searchGraph as contract } from '../../../../contract/routes/graph.ts';
import { GRAPH_LIMITS } from '../../../../contract/shared/graph-shapes.ts';
import type { RouteInput } from '../../../../contract/shared/route.ts';
import type { Graphs } from '../graphs.ts';
import { findGraph, type GraphName } from '../store/graph-row.ts';
import type { EdgeRow } from '../store/read-edges.ts';
import type { NodeRow } from '../store/read-nodes.ts';
import { constant, JsonWriter } from './json-writer.ts';
import { matchesOf, type Matches } from './match-nodes.ts';
import type { WalkEdge } from './walk.ts';
import { edgeWriter, END, nodeWriter } from './write-parts.ts';

type Body = RouteInput<typeof contract>['body'];

interface Found {
  nodes: readonly NodeRow[];
  neighbors: readonly NodeRow[];
  edges: readonly EdgeRow[];
  total: number;
  truncated: boolean;
}

const DEFAULT_LIMIT = 20;
const NODES = constant('{"nodes":[');
const NEIGHBORS = constant('],"neighbors":[');
const EDGES = constant('],"edges":[');
const TOTAL = constant('],"total":');
const TRUNCATED = constant(',"truncated":');
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

function writeFound(appId: string, { nodes, neighbors, edges, total, truncated }: Found): Buffer {
  const json = new JsonWriter();
  const writeNode = nodeWriter(json, appId);
  const writeEdge = edgeWriter(json, appId);
  json.raw(NODES);
  json.list(nodes, (node) => writeNode(node));
  json.raw(NEIGHBORS);
  json.list(neighbors, (node) => writeNode(node));
  json.raw(EDGES);
  json.list(edges, (edge) => writeEdge(edge));
  json.raw(TOTAL);
  json.json(String(total));
  json.raw(TRUNCATED);
  json.json(String(truncated));
  json.raw(END);
  return json.finish();
}

/** Nodes that match a text, best first, with what is around them; writes the answer. */
export async function searchGraph(graphs: Graphs, name: GraphName, body: Body): Promise<Buffer> {
  const { query = '', limit = DEFAULT_LIMIT, includeNeighbors = true } = body;
  const row = await findGraph(graphs.database, name);
  if (!row) return writeFound(name.appId, { nodes: [], neighbors: [], edges: [], total: 0, truncated: false });
  const properties = body.properties === undefined ? undefined : JSON.stringify(body.properties);
  const filter = { objectType: body.object_type, properties };
  const matches = await matchesOf(graphs, row, { text: query, withProperties: true, filter });
  const shown = matches.nos.slice(0, limit);
  const around: Surroundings = includeNeighbors
    ? await surroundingsOf(matches, shown)
    : { neighbors: [], edges: [], truncated: false };
  const nodes = await matches.readNodes([...shown, ...around.neighbors]);
  const edges = await matches.readEdges(around.edges, nodes);
  return writeFound(name.appId, {
    nodes: shown.flatMap((no) => nodes.byNo.get(no) ?? []),
    neighbors: around.neighbors.flatMap((no) => nodes.byNo.get(no) ?? []),
    edges: edges.rows,
    total: matches.nos.length,
    truncated: around.truncated || nodes.cutAt !== undefined || edges.isCut,
  });
}
