import { prepared, type Transaction } from '../../../platform/db/index.ts';
import { ownRows } from './own-rows.ts';
import type { GraphRow } from './graph-row.ts';
import { isStorable } from './storable-text.ts';
import type { EdgeChange } from './write-items.ts';

const COUNT = `tally as (
    select relation_no, count(*)::int as d from removed group by relation_no
  ), counted as (
    update graph_words w set uses = uses - d from tally t
    where w.no = t.relation_no and ${ownRows('w')}
  )`;

const deleteNode = prepared(`with node as (
    delete from graph_nodes where developer_id = $1 and graph_no = $2 and external_id = $3 returning no, type_no
  ), typed as (
    update graph_words w set uses = uses - 1
    where w.no = (select type_no from node) and ${ownRows('w')}
  )
  select no from node`);

function edgesAt(condition: string) {
  return prepared(`with removed as (
      delete from graph_edges e where ${condition} returning relation_no
    ), ${COUNT}
    select count(*)::int as edges from removed`);
}

const deleteOutgoing = edgesAt('e.developer_id = $1 and e.graph_no = $2 and e.from_no = $3');
const deleteIncoming = edgesAt(`e.to_no = $3 and ${ownRows('e')}`);

/** Takes a node out, with its edges; gives its number, if there was one. */
export async function removeNode(tx: Transaction, graph: GraphRow, externalId: string): Promise<number | undefined> {
  if (!isStorable(externalId)) return undefined;
  const { developerId, no } = graph;
  const [node] = (await tx.query<{ no: number }>(deleteNode([developerId, no, externalId]))).rows;
  if (!node) return undefined;
  graph.nodeCount--;
  for (const statement of [deleteOutgoing, deleteIncoming]) {
    const { rows } = await tx.query<{ edges: number }>(statement([developerId, no, node.no]));
    graph.edgeCount -= rows[0]?.edges ?? 0;
  }
  return node.no;
}

const NODE = 'select no from graph_nodes where developer_id = $1 and graph_no = $2 and external_id =';
const deleteEdge = prepared(`with removed as (
    delete from graph_edges e
    where e.developer_id = $1 and e.graph_no = $2 and e.from_no = (${NODE} $3) and e.to_no = (${NODE} $4)
      and e.relation_no = (select w.no from graph_words w
        where w.developer_id = $1 and w.graph_no = $2 and w.kind = 'relation' and w.word = $5)
    returning e.from_no, e.to_no, e.relation_no
  ), ${COUNT}
  select * from removed`);
const deletePending = prepared(`delete from graph_pending_edges
  where developer_id = $1 and graph_no = $2 and from_ref = $3 and to_ref = $4 and relation = $5`);

export interface EdgeEnds {
  from: string;
  to: string;
  relation: string;
}

/** Takes an edge out; gives what changed, or undefined when there was none. A pending edge changes nothing in memory. */
export async function removeEdge(
  tx: Transaction,
  graph: GraphRow,
  { from, to, relation }: EdgeEnds,
): Promise<EdgeChange[] | undefined> {
  const values = [graph.developerId, graph.no, from, to, relation];
  const { rows } = await tx.query<{ from_no: number; to_no: number; relation_no: number }>(deleteEdge(values));
  const pending = await tx.query(deletePending(values));
  graph.edgeCount -= rows.length;
  graph.pendingEdgeCount -= pending.rowCount;
  if (rows.length + pending.rowCount === 0) return undefined;
  return rows.map((row) => [row.from_no, row.to_no, row.relation_no, 0]);
}
