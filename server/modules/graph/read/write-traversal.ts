import { GRAPH_LIMITS } from '../../../../contract/shared/graph-shapes.ts';
import type { EdgeRow } from '../store/read-edges.ts';
import type { NodeRow } from '../store/read-nodes.ts';
import { constant, JsonWriter } from './json-writer.ts';
import { edgeWriter, END, nodeWriter } from './write-parts.ts';

/** A node that was reached, and how. */
export interface Reached {
  node: NodeRow;
  depth: number;
  /** The node before it, whose own way is told earlier unless it is a start. */
  before: NodeRow;
  relation: string;
}

export interface Traversal {
  appId: string;
  startNode: string;
  starts: readonly NodeRow[];
  reached: readonly Reached[];
  edges: readonly EdgeRow[];
  truncated: boolean;
}

const START = constant('{"startNode":');
const START_NODES = constant(',"startNodes":[');
const NODES = constant('],"nodes":[');
const EDGES = constant('],"edges":[');
const PATHS = constant('],"paths":[');
const TRUNCATED = constant('],"truncated":');
/** The end of a node at each depth. */
const DEPTHS = Array.from({ length: GRAPH_LIMITS.depth + 1 }, (_, depth) => constant(`,"depth":${depth}}`));
const PATH_NODES = constant('{"nodes":[');
const PATH_RELATIONS = constant('],"relations":[');
const PATH_END = constant(']}');

/** Where the items of a path stand in what was written. */
interface Place {
  nodes: [number, number];
  relations: [number, number];
}

/** A path is that of the node before, and one step. */
function writePath(json: JsonWriter, { node, before, relation }: Reached, way: Place | undefined): Place {
  json.raw(PATH_NODES);
  const nodes = json.length;
  if (way) json.again(...way.nodes);
  else json.string(before.externalId);
  json.comma();
  json.string(node.externalId);
  const nodesEnd = json.length;
  json.raw(PATH_RELATIONS);
  const relations = json.length;
  if (way) {
    json.again(...way.relations);
    json.comma();
  }
  json.string(relation);
  const relationsEnd = json.length;
  json.raw(PATH_END);
  return { nodes: [nodes, nodesEnd], relations: [relations, relationsEnd] };
}

/** The answer of a traversal. */
export function writeTraversal({ appId, startNode, starts, reached, edges, truncated }: Traversal): Buffer {
  const json = new JsonWriter();
  const writeNode = nodeWriter(json, appId);
  json.raw(START);
  json.string(startNode);
  json.raw(START_NODES);
  json.list(starts, (node) => writeNode(node));
  json.raw(NODES);
  json.list(reached, ({ node, depth }) => writeNode(node, DEPTHS[depth]));
  json.raw(EDGES);
  json.list(edges, edgeWriter(json));
  json.raw(PATHS);
  const places = new Map<NodeRow, Place>();
  json.list(reached, (one) => places.set(one.node, writePath(json, one, places.get(one.before))));
  json.raw(TRUNCATED);
  json.json(String(truncated));
  json.raw(END);
  return json.finish();
}
