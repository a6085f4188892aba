import type { GraphStats } from '../../../../contract/shared/graph-shapes.ts';
import { prepared, type Queryable, type Transaction } from '../../../platform/db/index.ts';
import { isStorable } from './storable-text.ts';

/** Which graph of which developer. */
export interface GraphName {
  developerId: string;
  appId: string;
}

/** A graph that exists, by its number. */
export interface GraphKey extends GraphName {
  no: number;
}

/** Row of a graph. While a transaction holds it locked, its numbers are given out in memory and stored at the end. */
export interface GraphRow extends GraphKey {
  counter: number;
  nextNode: number;
  nextWord: number;
  nodeCount: number;
  edgeCount: number;
  pendingEdgeCount: number;
}

const COLUMNS = `developer_id as "developerId", app_id as "appId", no::float8 as no, counter::float8 as counter,
  next_node as "nextNode", next_word as "nextWord", node_count as "nodeCount", edge_count as "edgeCount",
  pending_edge_count as "pendingEdgeCount"`;

const selectGraph = prepared(`select ${COLUMNS} from graphs where developer_id = $1 and app_id = $2`);

export async function findGraph(db: Queryable, { developerId, appId }: GraphName): Promise<GraphRow | undefined> {
  if (!isStorable(appId)) return undefined;
  return (await db.query<GraphRow>(selectGraph([developerId, appId]))).rows[0];
}

const createRow = prepared('insert into graphs (developer_id, app_id) values ($1, $2) on conflict do nothing');
const lockRow = prepared(`select ${COLUMNS} from graphs where developer_id = $1 and app_id = $2 for update`);

/** The row of a graph, locked until the transaction ends. */
export async function lockGraph(tx: Transaction, { developerId, appId }: GraphName): Promise<GraphRow | undefined> {
  if (!isStorable(appId)) return undefined;
  return (await tx.query<GraphRow>(lockRow([developerId, appId]))).rows[0];
}

/** The same, of a graph that is made when it is absent. */
export async function lockOrCreateGraph(tx: Transaction, name: GraphName): Promise<GraphRow> {
  for (;;) {
    const found = await lockGraph(tx, name);
    if (found) return found;
    await tx.query(createRow([name.developerId, name.appId]));
  }
}

const updateRow = prepared(`update graphs set counter = $3, next_node = $4, next_word = $5, node_count = $6,
    edge_count = $7, pending_edge_count = $8
  where developer_id = $1 and app_id = $2`);

/** Stores the numbers of a locked row. */
export async function saveGraph(tx: Transaction, row: GraphRow): Promise<void> {
  const { developerId, appId, counter, nextNode, nextWord, nodeCount, edgeCount, pendingEdgeCount } = row;
  await tx.query(updateRow([developerId, appId, counter, nextNode, nextWord, nodeCount, edgeCount, pendingEdgeCount]));
}

/** Takes a locked graph out of the database, with everything in it. */
export async function removeGraph(tx: Transaction, { developerId, appId, no }: GraphRow): Promise<void> {
  for (const table of ['graph_edges', 'graph_pending_edges', 'graph_nodes', 'graph_words', 'graph_changes']) {
    await tx.query({
      text: `delete from ${table} where developer_id = $1 and graph_no = $2`,
      values: [developerId, no],
    });
  }
  await tx.query({
    text: 'delete from graphs where developer_id = $1 and app_id = $2',
    values: [developerId, appId],
  });
}

const selectStats = prepared(`select app_id as "appId", node_count as "nodeCount", edge_count as "edgeCount",
    pending_edge_count as "pendingEdgeCount",
    coalesce((select json_object_agg(word, uses order by word) from graph_words w
      where w.developer_id = g.developer_id and w.graph_no = g.no and kind = 'type' and uses > 0), '{}') as "objectTypes",
    coalesce((select json_object_agg(word, uses order by word) from graph_words w
      where w.developer_id = g.developer_id and w.graph_no = g.no and kind = 'relation' and uses > 0), '{}') as relations
  from graphs g
  where developer_id = $1 and ($2::text is null or app_id = $2) and ($3::text is null or app_id > $3)
  order by app_id limit $4`);

export interface StatsQuery {
  appId?: string | undefined;
  /** Only graphs behind this one. */
  after?: string | undefined;
  limit?: number | undefined;
}

/** Statistics of a developer's graphs, in order of appId. */
export async function readStats(db: Queryable, developerId: string, query: StatsQuery): Promise<GraphStats[]> {
  const { appId = null, after = null, limit = null } = query;
  if (appId !== null && !isStorable(appId)) return [];
  return (await db.query<GraphStats>(selectStats([developerId, appId, after, limit]))).rows;
}
