import type { EdgeInput, GraphEdge } from '../../../contract/shared/graph-shapes.ts';
import type { Database } from '../../platform/db/index.ts';
import { changeGraph, type GraphWrite } from './store/change-graph.ts';
import type { GraphName } from './store/graph-row.ts';
import { findPending, readEdges, wireEdge, type EdgeRow } from './store/read-edges.ts';
import { nodesByNo } from './store/read-nodes.ts';
import { arrayOf } from './store/array-literal.ts';
import { resolveReferences } from './store/resolve-references.ts';
import { writeItem } from './sync/sync-graph.ts';

/** The edge as it is stored between two nodes; undefined while one of them does not exist. */
async function findConnected({ tx, graph }: GraphWrite, edge: EdgeInput): Promise<EdgeRow | undefined> {
  const nos = await resolveReferences(tx, graph, arrayOf([edge.from, edge.to]));
  const { rows } = await nodesByNo(tx, graph, nos);
  const [from, to] = rows;
  if (!from || !to) return undefined;
  const query = { from: from.externalId, to: to.externalId, relation: edge.relation, limit: 1 };
  return (await readEdges(tx, graph, query)).edges[0];
}

/** Creates an edge, or updates it; keeps it as pending while a node at one of its ends does not exist. */
export function writeEdge(database: Database, name: GraphName, edge: EdgeInput): Promise<GraphEdge> {
  return changeGraph(database, name, async (write) => {
    await writeItem(write, { edge });
    const connected = await findConnected(write, edge);
    if (connected) return wireEdge(name.appId, connected);
    const pending = await findPending(write.tx, write.graph, edge);
    if (!pending) throw new Error('an edge that was written is not there');
    return { ...wireEdge(name.appId, pending), pending: true as const };
  });
}
