import { AppError } from '../../platform/errors/index.ts';
import type { Database } from '../../platform/db/index.ts';
import { noSuchGraph, noSuchNode } from './graph-name.ts';
import { changeLocked, transactionOn, type GraphWrite } from './store/change-graph.ts';
import { removeEdge, removeNode, type EdgeEnds } from './store/delete-items.ts';
import { lockGraph, removeGraph, type GraphName } from './store/graph-row.ts';

/** Changes a graph that exists; one that does not is not made. */
function changeExisting(
  database: Database,
  name: GraphName,
  { absent, write }: { absent: AppError; write: (change: GraphWrite) => Promise<void> },
): Promise<void> {
  return transactionOn(database, name, async (tx) => {
    const graph = await lockGraph(tx, name);
    if (!graph) throw absent;
    await changeLocked(tx, graph, write);
  });
}

export function deleteGraph(database: Database, name: GraphName): Promise<void> {
  return transactionOn(database, name, async (tx) => {
    const graph = await lockGraph(tx, name);
    if (!graph) throw noSuchGraph(name.appId);
    await removeGraph(tx, graph);
  });
}

/** Deletes a node with its edges. */
export function deleteNode(database: Database, name: GraphName, externalId: string): Promise<void> {
  const absent = noSuchNode(externalId);
  return changeExisting(database, name, {
    absent,
    write: async ({ tx, graph, changes }) => {
      const no = await removeNode(tx, graph, externalId);
      if (no === undefined) throw absent;
      // Whoever holds the graph in memory takes the edges of a node out with it.
      changes.nodes.push([no]);
    },
  });
}

/** Deletes an edge, connected or pending. */
export function deleteEdge(database: Database, name: GraphName, edge: EdgeEnds): Promise<void> {
  const absent = new AppError('NOT_FOUND', `There is no such edge from "${edge.from}" to "${edge.to}".`);
  return changeExisting(database, name, {
    absent,
    write: async ({ tx, graph, changes }) => {
      const removed = await removeEdge(tx, graph, edge);
      if (!removed) throw absent;
      changes.edges.push(...removed);
    },
  });
}
