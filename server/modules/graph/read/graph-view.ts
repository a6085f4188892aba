import type { Direction, GraphNode } from '../../../../contract/shared/graph-shapes.ts';
import type { Database } from '../../../platform/db/index.ts';
import { hasProperties, relationOf } from '../memory/adjacency.ts';
import type { GraphIndex } from '../memory/graph-index.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { edgeKey, edgeProperties, readWords, type EdgeRow } from '../store/read-edges.ts';
import { findNode, nodesByNo, nodesNamed, wireNode, type NodeRow } from '../store/read-nodes.ts';
import { readSides } from '../store/read-sides.ts';
import type { Sides, WalkEdge } from './walk.ts';

/** Nodes of one name that are looked at. */
const MOST_NAMESAKES = 1000;

/** Nodes by their numbers, in wire form. */
export interface NodesRead {
  byNo: Map<number, GraphNode>;
  /** Whether properties were left out because there are too many. */
  isCut: boolean;
}

/** Edges in wire form, but for the graph's id. */
export interface EdgesRead {
  rows: EdgeRow[];
  relationOfNo: (no: number) => string;
}

/** A graph as readers see it, from memory or from the database. */
export interface GraphView {
  /** Numbers of the nodes that a reference names: one by externalId, else all of that name. */
  startsOf: (reference: string) => Promise<number[]>;
  /** The number of a relation; undefined when no edge has it. */
  relationNo: (word: string) => Promise<number | undefined>;
  sidesOf: (
    nodes: readonly number[],
    query: { direction: Direction; relation?: number | undefined },
  ) => Sides | Promise<Sides>;
  readNodes: (nos: readonly number[]) => Promise<NodesRead>;
  /** `nodes` holds the ends of the edges. */
  readEdges: (edges: readonly WalkEdge[], nodes: NodesRead) => Promise<EdgesRead>;
}

async function edgeRows(
  { database, row }: { database: Database; row: GraphRow },
  edges: readonly WalkEdge[],
  names: { nodes: NodesRead; relationOfNo: (no: number) => string },
): Promise<EdgesRead> {
  const numbered = edges.map(({ from, to, label }) => ({ from, to, relation: relationOf(label), label }));
  const withProperties = numbered.filter(({ label }) => hasProperties(label));
  const properties = await edgeProperties(database, row, withProperties);
  const rows = numbered.flatMap((edge) => {
    // A node that was deleted since is gone with its edges.
    const [from, to] = [names.nodes.byNo.get(edge.from), names.nodes.byNo.get(edge.to)];
    if (!from || !to) return [];
    const given = hasProperties(edge.label) ? (properties.get(edgeKey(edge)) ?? null) : null;
    const relation = names.relationOfNo(edge.relation);
    return [{ from: from.externalId, to: to.externalId, relation, properties: given }];
  });
  return { rows, relationOfNo: names.relationOfNo };
}

/** The graph as the database has it. */
export function databaseView(database: Database, row: GraphRow): GraphView {
  return {
    startsOf: async (reference) => {
      const node = await findNode(database, row, reference);
      if (node) return [node.no];
      return (await nodesNamed(database, row, { name: reference, limit: MOST_NAMESAKES })).map(({ no }) => no);
    },
    relationNo: async (word) => {
      const words = await readWords(database, row, { kind: 'relation', words: [word] });
      return [...words.keys()][0];
    },
    sidesOf: (nodes, query) => readSides(database, row, { nodes, ...query }),
    readNodes: async (nos) => {
      const { rows, isCut } = await nodesByNo(database, row, nos);
      return { byNo: new Map(rows.map((node) => [node.no, wireNode(row.appId, node)])), isCut };
    },
    readEdges: async (edges, nodes) => {
      const words = await readWords(database, row, { kind: 'relation' });
      return edgeRows({ database, row }, edges, { nodes, relationOfNo: (no) => words.get(no) ?? '' });
    },
  };
}

/** Nodes of which memory knows everything but the properties, which are read where there are any. */
async function readHeld(
  { database, row, index }: { database: Database; row: GraphRow; index: GraphIndex },
  nos: readonly number[],
): Promise<NodesRead> {
  const rows: NodeRow[] = [];
  const withProperties: number[] = [];
  for (const no of nos) {
    const held = index.nodes[no];
    if (!held) continue;
    const { externalId, name, typeNo } = held;
    rows.push({ no, externalId, name, objectType: index.words[typeNo] ?? '', properties: null });
    if (held.hasProperties) withProperties.push(no);
  }
  const read = await nodesByNo(database, row, withProperties);
  const byNo = new Map(rows.map((node) => [node.no, wireNode(row.appId, node)]));
  for (const node of read.rows) byNo.set(node.no, wireNode(row.appId, node));
  return { byNo, isCut: read.isCut };
}

/** The graph as memory holds it. */
export function memoryView(database: Database, row: GraphRow, index: GraphIndex): GraphView {
  return {
    startsOf: (reference) => {
      const no = index.noOf(reference);
      return Promise.resolve(no === undefined ? index.nosNamed(reference).slice(0, MOST_NAMESAKES) : [no]);
    },
    relationNo: (word) => Promise.resolve(index.relationNo(word)),
    sidesOf: (_nodes, { direction }) => ({
      ...(direction === 'incoming' ? {} : { out: index.out }),
      ...(direction === 'outgoing' ? {} : { in: index.in }),
    }),
    readNodes: (nos) => readHeld({ database, row, index }, nos),
    readEdges: (edges, nodes) =>
      edgeRows({ database, row }, edges, { nodes, relationOfNo: (no) => index.words[no] ?? '' }),
  };
}
