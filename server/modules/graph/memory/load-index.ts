import type { Database, Transaction } from '../../../platform/db/index.ts';
import type { GraphKey, GraphRow } from '../store/graph-row.ts';
import { findGraph } from '../store/graph-row.ts';
import type { NodeChange, WordChange } from '../store/write-items.ts';
import { Adjacency } from './adjacency.ts';
import { GraphIndex } from './graph-index.ts';

const NODES_AT_ONCE = 5000;
const EDGES_AT_ONCE = 40_000;

/** Big-endian from, to and label of each edge behind a key, and the key of the last. */
const EDGES = `select string_agg(int4send(from_no) || int4send(to_no) || int4send(2 * relation_no + has), '') as packed
  from (
    select from_no, to_no, relation_no, (properties is not null)::int as has from graph_edges
    where developer_id = $1 and graph_no = $2 and (from_no, to_no, relation_no) > ($3::int, $4::int, $5::int)
    order by from_no, to_no, relation_no limit ${EDGES_AT_ONCE}
  ) e`;

interface EdgeColumns {
  near: Int32Array;
  far: Int32Array;
  labels: Int32Array;
}

async function loadEdges(tx: Transaction, graph: GraphRow): Promise<EdgeColumns> {
  const { developerId, no, edgeCount } = graph;
  const columns = {
    near: new Int32Array(edgeCount),
    far: new Int32Array(edgeCount),
    labels: new Int32Array(edgeCount),
  };
  let last = [-1, -1, -1];
  for (let count = 0; count < edgeCount;) {
    const { rows } = await tx.query<{ packed: Buffer | null }>({ text: EDGES, values: [developerId, no, ...last] });
    const packed = rows[0]?.packed;
    if (!packed) throw new Error('a graph has fewer edges than were counted');
    for (let at = 0; at < packed.length && count < edgeCount; at += 12, count++) {
      columns.near[count] = packed.readInt32BE(at);
      columns.far[count] = packed.readInt32BE(at + 4);
      columns.labels[count] = packed.readInt32BE(at + 8);
    }
    last = [columns.near[count - 1] ?? 0, columns.far[count - 1] ?? 0, (columns.labels[count - 1] ?? 0) >> 1];
  }
  return columns;
}

async function loadNodes(tx: Transaction, { developerId, no }: GraphKey, take: (node: NodeChange) => void) {
  for (let after = ''; ;) {
    const { rows } = await tx.query<{ nodes: NodeChange[] | null }>({
      text: `select json_agg(json_build_array(no, external_id, type_no, name, has) order by external_id) as nodes from (
          select no, external_id, type_no, name, (properties is not null)::int as has from graph_nodes
          where developer_id = $1 and graph_no = $2 and external_id > $3 order by external_id limit ${NODES_AT_ONCE}
        ) n`,
      values: [developerId, no, after],
    });
    const nodes = rows[0]?.nodes ?? [];
    for (const node of nodes) take(node);
    const last = nodes.at(-1);
    if (!last) return;
    after = last[1] ?? '';
  }
}

/** Reads a whole graph as of one moment, in pieces between which other requests are served. */
export function loadIndex(database: Database, name: GraphKey): Promise<GraphIndex | undefined> {
  return database.transaction(async (tx) => {
    await tx.query({ text: 'set transaction isolation level repeatable read, read only' });
    const graph = await findGraph(tx, name);
    if (graph?.no !== name.no) return undefined;
    const { near, far, labels } = await loadEdges(tx, graph);
    const index = new GraphIndex(graph.counter, {
      out: Adjacency.of(graph.nextNode, { near, far, labels }),
      in: Adjacency.of(graph.nextNode, { near: far, far: near, labels }),
    });
    const words = await tx.query<{ word: WordChange }>({
      text: `select json_build_array(no, kind, word) as word from graph_words
        where developer_id = $1 and graph_no = $2`,
      values: [graph.developerId, graph.no],
    });
    for (const { word } of words.rows) index.addWord(...word);
    await loadNodes(tx, graph, (node) => index.putNode(node));
    return index;
  });
}
