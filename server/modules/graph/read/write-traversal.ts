import { GRAPH_LIMITS } from '../../../../contract/shared/graph-shapes.ts';
import type { EdgeRow } from '../store/read-edges.ts';
import type { NodeRow } from '../store/read-nodes.ts';
import { constant, JsonWriter } from './json-writer.ts';

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
const APP_ID = constant('{"appId":');
const TYPE = constant(',"objectType":');
const NAME = constant(',"name":');
const EXTERNAL_ID = constant(',"externalId":');
const PROPERTIES = constant(',"properties":');
const NO_PROPERTIES = constant('{}');
/** The end of a node at each depth. */
const DEPTHS = Array.from({ length: GRAPH_LIMITS.depth + 1 }, (_, depth) => constant(`,"depth":${depth}}`));
const FROM = constant('{"from":');
const TO = constant(',"to":');
const RELATION = constant(',"relation":');
const PATH_NODES = constant('{"nodes":[');
const PATH_RELATIONS = constant('],"relations":[');
const PATH_END = constant(']}');
const END = constant('}');

function writeProperties(json: JsonWriter, properties: string | null): void {
  json.raw(PROPERTIES);
  if (properties === null) json.raw(NO_PROPERTIES);
  else json.json(properties);
}

/** All of a node but its end. */
function writeNode(json: JsonWriter, appId: Uint8Array, node: NodeRow): void {
  json.raw(APP_ID);
  json.raw(appId);
  json.raw(TYPE);
  json.string(node.objectType);
  json.raw(NAME);
  json.string(node.name);
  json.raw(EXTERNAL_ID);
  json.string(node.externalId);
  writeProperties(json, node.properties);
}

function writeEdge(json: JsonWriter, edge: EdgeRow): void {
  json.raw(FROM);
  json.string(edge.from);
  json.raw(TO);
  json.string(edge.to);
  json.raw(RELATION);
  json.string(edge.relation);
  writeProperties(json, edge.properties);
  json.raw(END);
}

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
  const app = constant(JSON.stringify(appId));
  json.raw(START);
  json.string(startNode);
  json.raw(START_NODES);
  json.list(starts, (node) => {
    writeNode(json, app, node);
    json.raw(END);
  });
  json.raw(NODES);
  json.list(reached, ({ node, depth }) => {
    writeNode(json, app, node);
    json.raw(DEPTHS[depth] ?? END);
  });
  json.raw(EDGES);
  json.list(edges, (edge) => writeEdge(json, edge));
  json.raw(PATHS);
  const places = new Map<NodeRow, Place>();
  json.list(reached, (one) => places.set(one.node, writePath(json, one, places.get(one.before))));
  json.raw(TRUNCATED);
  json.json(String(truncated));
  json.raw(END);
  return json.finish();
}
