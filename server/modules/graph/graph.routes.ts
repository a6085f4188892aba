import * as contract from '../../../contract/routes/graph.ts';
import { implement, implementBytes, implementWritten, type Route } from '../../platform/http/index.ts';
import { deleteEdge, deleteGraph, deleteNode } from './delete-parts.ts';
import { graphNameOf, noSuchNode, writableGraphName } from './graph-name.ts';
import type { Graphs } from './graphs.ts';
import { readCursor, writeCursor } from './read/cursor.ts';
import { listEdges } from './read/list-edges.ts';
import { listNodes } from './read/list-nodes.ts';
import { searchGraph } from './read/search-graph.ts';
import { traverseGraph } from './read/traverse-graph.ts';
import { findGraph, readStats } from './store/graph-row.ts';
import { findNode, wireNode } from './store/read-nodes.ts';
import { syncGraph } from './sync/sync-graph.ts';
import { writeEdge } from './write-edge.ts';
import { writeNode } from './write-node.ts';

const SUCCESS = { success: true as const };
const NO_STATS = { nodeCount: 0, edgeCount: 0, pendingEdgeCount: 0, objectTypes: {}, relations: {} };

function graphsAndStats({ database }: Graphs): Route[] {
  return [
    implement(contract.listGraphs, async ({ caller }, { query }) => {
      const { app_id: appId, limit, cursor } = query;
      const after = cursor === undefined ? undefined : String(readCursor(cursor, ['string'])[0]);
      const page = { appId, after, limit: limit === undefined ? undefined : limit + 1 };
      const found = await readStats(database, caller.developerId, page);
      const graphs = found.slice(0, limit);
      const last = graphs.length < found.length ? graphs.at(-1) : undefined;
      return { graphs, ...(last ? { nextCursor: writeCursor([last.appId]) } : {}) };
    }),
    implement(contract.getGraphStats, async ({ caller }, { params }) => {
      const [stats] = await readStats(database, caller.developerId, { appId: params.id });
      return stats ?? { appId: params.id, ...NO_STATS };
    }),
    implement(contract.deleteGraph, async (ctx, { params }) => {
      await deleteGraph(database, graphNameOf(ctx, params));
      return SUCCESS;
    }),
  ];
}

function nodesAndEdges(graphs: Graphs): Route[] {
  const { database } = graphs;
  return [
    implement(contract.writeGraphNode, (ctx, { params, body }) =>
      writeNode(database, writableGraphName(ctx, params), body),
    ),
    implementWritten(contract.listGraphNodes, (ctx, { params, query }) =>
      listNodes(graphs, graphNameOf(ctx, params), query),
    ),
    implement(contract.getGraphNode, async (ctx, { params }) => {
      const graph = await findGraph(database, graphNameOf(ctx, params));
      const node = graph && (await findNode(database, graph, params.externalId));
      if (!node) throw noSuchNode(params.externalId);
      return wireNode(params.id, node);
    }),
    implement(contract.deleteGraphNode, async (ctx, { params }) => {
      await deleteNode(database, graphNameOf(ctx, params), params.externalId);
      return SUCCESS;
    }),
    implement(contract.writeGraphEdge, (ctx, { params, body }) =>
      writeEdge(database, writableGraphName(ctx, params), body),
    ),
    implementWritten(contract.listGraphEdges, (ctx, { params, query }) =>
      listEdges(graphs, graphNameOf(ctx, params), query),
    ),
    implement(contract.deleteGraphEdge, async (ctx, { params, query }) => {
      await deleteEdge(database, graphNameOf(ctx, params), query);
      return SUCCESS;
    }),
  ];
}

export function graphRoutes(graphs: Graphs): Route[] {
  return [
    ...graphsAndStats(graphs),
    ...nodesAndEdges(graphs),
    implementWritten(contract.searchGraph, (ctx, { params, body }) =>
      searchGraph(graphs, graphNameOf(ctx, params), body),
    ),
    implementWritten(contract.traverseGraph, (ctx, { params, body }) =>
      traverseGraph(graphs, graphNameOf(ctx, params), body),
    ),
    implementBytes(contract.syncGraph, async (ctx, { params, body }) => ({
      success: true as const,
      ...(await syncGraph(graphs.database, writableGraphName(ctx, params), body)),
    })),
  ];
}
