import type { Direction } from '../../../../contract/shared/graph-shapes.ts';
import type { Database } from '../../../platform/db/index.ts';
import { hasProperties, relationOf } from '../memory/adjacency.ts';
import type { GraphIndex } from '../memory/graph-index.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { readWords, type EdgeRow } from '../store/read-edges.ts';
import { findNode, nodesByNo, nodesNamed, type NodeRow } from '../store/read-nodes.ts';
import { edgeProperties, nodeProperties, type NumberedEdge } from '../store/read-properties.ts';
import { readSides } from '../store/read-sides.ts';
import type { Sides, WalkEdge } from './walk.ts';

/** Nodes of one name that are looked at. */
const MOST_NAMESAKES = 1000;

/** Nodes by their numbers. */
export interface NodesRead {
  byNo: Map<number, NodeRow>;
  /** The first node whose properties are left out, because there are too many. */
  cutAt: number | undefined;
}

export interface EdgesRead {
  rows: EdgeRow[];
  /** Whether properties were left out. */
  isCut: boolean;
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
  const { nodes, relationOfNo } = names;
  const rows: EdgeRow[] = [];
  const numbered: NumberedEdge[] = [];
  const numberedRows: EdgeRow[] = [];
  for (const edge of edges) {
    const from = nodes.byNo.get(edge.from);
    const to = nodes.byNo.get(edge.to);
    // A node that was deleted since is gone with its edges.
    if (!from || !to) continue;
    const relation = relationOf(edge.label);
    const told = { from: from.externalId, to: to.externalId, relation: relationOfNo(relation), properties: null };
    rows.push(told);
    if (!hasProperties(edge.label)) continue;
    numbered.push({ from: edge.from, to: edge.to, relation });
    numberedRows.push(told);
  }
  const { texts, whole } = await edgeProperties(database, row, numbered);
  for (const [i, told] of numberedRows.entries()) told.properties = texts[i] || null;
  return { rows, isCut: whole < numbered.length, relationOfNo };
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
      const { rows, cutAt } = await nodesByNo(database, row, nos);
      return { byNo: new Map(rows.map((node) => [node.no, node])), cutAt };
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
  const byNo = new Map<number, NodeRow>();
  const withProperties: NodeRow[] = [];
  for (const no of nos) {
    const held = index.nodes[no];
    if (!held) continue;
    const { externalId, name, typeNo } = held;
    const node = { no, externalId, name, objectType: index.words[typeNo] ?? '', properties: null };
    byNo.set(no, node);
    if (held.hasProperties) withProperties.push(node);
  }
  const numbers = withProperties.map(({ no }) => no);
  const { texts, whole } = await nodeProperties(database, row, numbers);
  for (const [i, node] of withProperties.entries()) node.properties = texts[i] || null;
  return { byNo, cutAt: numbers[whole] };
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
