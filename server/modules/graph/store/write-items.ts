import { prepared, type Transaction } from '../../../platform/db/index.ts';
import { arrayOf } from './array-literal.ts';
import { ownRows } from './own-rows.ts';
import type { GraphRow } from './graph-row.ts';

/** Items as columns, each in the form of an array literal of PostgreSQL. */
export interface NodeColumns {
  count: number;
  externalIds: string;
  types: string;
  names: string;
  /** JSON text; null where properties were not given. */
  properties: string;
}

/** Edges by numbers, in columns. */
export interface EdgeColumns {
  count: number;
  from: string;
  to: string;
  relations: string;
  properties: string;
}

/** Pending edges, as they were written. */
export interface PendingColumns extends EdgeColumns {}

/** `[no, externalId, type number, name, 1 with properties]`; `[no]` of a node that is gone. */
export type NodeChange = [number, string, number, string, number] | [number];
/** `[from, to, relation, 0 gone | 1 without properties | 2 with properties]`. */
export type EdgeChange = [number, number, number, number];
/** `[number, type or relation, word]`. */
export type WordChange = [number, string, string];

interface Written<C> {
  inserted: number;
  updated: number;
  changes: C[] | null;
}

export interface WriteOptions {
  /** Whether the changes are wanted, row by row. */
  wantsChanges: boolean;
}

const insertWords = prepared(`insert into graph_words (developer_id, graph_no, kind, word, no)
  select $1, $2, $3, word, $4::int + (row_number() over (order by word))::int - 1 from unnest($5::text[]) as i (word)
  where not exists (select from graph_words w
    where w.developer_id = $1 and w.graph_no = $2 and w.kind = $3 and w.word = i.word)
  returning no, kind, word`);

/** Gives numbers to words that have none yet. */
export async function addWords(
  tx: Transaction,
  graph: GraphRow,
  { kind, words }: { kind: 'type' | 'relation'; words: readonly string[] },
): Promise<WordChange[]> {
  if (words.length === 0) return [];
  const { rows } = await tx.query<{ no: number; kind: string; word: string }>(
    insertWords([graph.developerId, graph.no, kind, graph.nextWord, arrayOf(words)]),
  );
  graph.nextWord += rows.length;
  return rows.map(({ no, kind: stored, word }) => [no, stored, word]);
}

const selectWords = prepared(`select word, no from graph_words
  where developer_id = $1 and graph_no = $2 and kind = $3 and word = any($4::text[])`);

/** Numbers of words; those that have none are not in it. */
export async function wordNumbers(
  tx: Transaction,
  graph: GraphRow,
  { kind, words }: { kind: 'type' | 'relation'; words: readonly string[] },
): Promise<Map<string, number>> {
  if (words.length === 0) return new Map();
  const { rows } = await tx.query<{ word: string; no: number }>(
    selectWords([graph.developerId, graph.no, kind, arrayOf(words)]),
  );
  return new Map(rows.map(({ word, no }) => [word, no]));
}

// Rows that exist are looked up one by one (`lateral ... limit 1`), and changed where they were found (`ctid`: the graph's
// lock keeps them there). Left to choose, the planner would compare every item with every row of a young table.
const upsertNodes = prepared(`with input as (
    select * from unnest($4::text[], $5::text[], $6::text[], $7::text[]) as i (external_id, type, name, properties)
  ), present as materialized (
    select i.external_id, i.name, i.properties, w.no as type_no, n.no, n.type_no as old_type_no, n.place,
      n.no is not null and n.type_no = w.no and n.name = i.name
        and (i.properties is null or i.properties = coalesce(n.properties, '{}')) as is_same
    from input i
    cross join lateral (
      select no from graph_words
      where developer_id = $1 and graph_no = $2 and kind = 'type' and word = i.type limit 1
    ) w
    left join lateral (
      select ctid as place, no, type_no, name, properties from graph_nodes
      where developer_id = $1 and graph_no = $2 and external_id = i.external_id limit 1
    ) n on true
  ), inserted as (
    insert into graph_nodes (developer_id, graph_no, no, type_no, external_id, name, properties)
    select $1, $2, $3::int + (row_number() over ())::int - 1, type_no, external_id, name, nullif(properties, '{}')
    from present where no is null
    returning no, external_id, type_no, name, properties
  ), updated as (
    update graph_nodes n set type_no = p.type_no, name = p.name,
      properties = case when p.properties is null then n.properties else nullif(p.properties, '{}') end
    from present p
    where n.ctid = p.place and not p.is_same and n.developer_id = $1
    returning n.no, n.external_id, n.type_no, n.name, n.properties
  ), tally as (
    select type_no, sum(d)::int as d from (
      select type_no, 1 as d from present where no is null
      union all select type_no, 1 from present where old_type_no <> type_no
      union all select old_type_no, -1 from present where old_type_no <> type_no
    ) t group by type_no
  ), counted as (
    update graph_words w set uses = uses + d from tally t
    where w.no = t.type_no and ${ownRows('w')}
  )
  select (select count(*) from inserted)::int as inserted, (select count(*) from updated)::int as updated,
    case when $8 then (
      select json_agg(json_build_array(no, external_id, type_no, name, (properties is not null)::int) order by no)
      from (select * from inserted union all select * from updated) c
    ) end as changes`);

/** Writes nodes of different externalIds, whose types have numbers. */
export async function writeNodes(
  tx: Transaction,
  graph: GraphRow,
  { columns, wantsChanges }: WriteOptions & { columns: NodeColumns },
): Promise<Written<NodeChange>> {
  const { externalIds, types, names, properties } = columns;
  const { developerId, no, nextNode } = graph;
  const { rows } = await tx.query<Written<NodeChange>>(
    upsertNodes([developerId, no, nextNode, externalIds, types, names, properties, wantsChanges]),
  );
  const written = rows[0] ?? { inserted: 0, updated: 0, changes: null };
  graph.nextNode += written.inserted;
  graph.nodeCount += written.inserted;
  return written;
}

const COUNT_EDGES = `tally as (
    select relation_no, count(*)::int as d from inserted group by relation_no
  ), counted as (
    update graph_words w set uses = uses + d from tally t
    where w.no = t.relation_no and ${ownRows('w')}
  )
  select (select count(*) from inserted)::int as inserted, (select count(*) from updated)::int as updated,
    case when $7 then (
      select json_agg(json_build_array(from_no, to_no, relation_no, 1 + (properties is not null)::int))
      from (select * from inserted union all select * from updated) c
    ) end as changes`;

const EDGE_INPUT = `input as (
    select * from unnest($3::int[], $4::int[], $5::int[], $6::text[]) as i (from_no, to_no, relation_no, properties)
  )`;

const INSERT_EDGES = `insert into graph_edges (developer_id, graph_no, from_no, to_no, relation_no, properties)
    select $1, $2, from_no, to_no, relation_no, nullif(properties, '{}')`;

const upsertEdges = prepared(`with ${EDGE_INPUT}, present as materialized (
    select i.*, e.place, i.properties is null or i.properties = coalesce(e.properties, '{}') as is_same
    from input i
    left join lateral (
      select ctid as place, properties from graph_edges
      where developer_id = $1 and graph_no = $2 and from_no = i.from_no and to_no = i.to_no
        and relation_no = i.relation_no limit 1
    ) e on true
  ), inserted as (
    ${INSERT_EDGES} from present where place is null
    returning from_no, to_no, relation_no, properties
  ), updated as (
    update graph_edges e set properties = nullif(p.properties, '{}') from present p
    where e.ctid = p.place and not p.is_same and e.developer_id = $1
    returning e.from_no, e.to_no, e.relation_no, e.properties
  ), ${COUNT_EDGES}`);

/** Of a graph that has no edge yet nothing has to be looked up. */
const insertFirstEdges = prepared(`with ${EDGE_INPUT}, inserted as (
    ${INSERT_EDGES} from input
    returning from_no, to_no, relation_no, properties
  ), updated as (select * from inserted where false), ${COUNT_EDGES}`);

/** Writes different edges. `isFirst`: the graph had none when the transaction began, so that all of them are new. */
export async function writeEdges(
  tx: Transaction,
  graph: GraphRow,
  { columns, wantsChanges, isFirst }: WriteOptions & { columns: EdgeColumns; isFirst: boolean },
): Promise<Written<EdgeChange>> {
  const { from, to, relations, properties } = columns;
  const statement = isFirst ? insertFirstEdges : upsertEdges;
  const { rows } = await tx.query<Written<EdgeChange>>(
    statement([graph.developerId, graph.no, from, to, relations, properties, wantsChanges]),
  );
  const written = rows[0] ?? { inserted: 0, updated: 0, changes: null };
  graph.edgeCount += written.inserted;
  return written;
}
