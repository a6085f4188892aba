import { prepared, type Transaction } from '../../../platform/db/index.ts';
import { ownRows } from './own-rows.ts';
import { AMBIGUOUS, UNKNOWN } from './reference-numbers.ts';
import type { GraphRow } from './graph-row.ts';
import type { EdgeChange, PendingColumns } from './write-items.ts';

/** The node of a reference `r.ref`: by externalId (`e`), else by a name (`m`) that a single node has. */
const MATCHES = `left join lateral (
      select no from graph_nodes where developer_id = $1 and graph_no = $2 and external_id = r.ref limit 1
    ) e on true
    left join lateral (
      select min(no) as no, count(*) as n from (
        select n.no from graph_nodes n
        where e.no is null and n.name = r.ref and ${ownRows('n')} limit 2
      ) named
    ) m on true`;

const resolve = prepared(`select json_agg(
      coalesce(e.no, case m.n when 0 then ${UNKNOWN} when 1 then m.no else ${AMBIGUOUS} end) order by r.place
    ) as nos
  from unnest($3::text[]) with ordinality r (ref, place) ${MATCHES}`);

/** The numbers of the nodes that references name, in their order. */
export async function resolveReferences(tx: Transaction, graph: GraphRow, references: string): Promise<number[]> {
  const { rows } = await tx.query<{ nos: number[] | null }>(resolve([graph.developerId, graph.no, references]));
  return rows[0]?.nos ?? [];
}

const selectNamesakes = prepared(`select external_id as "externalId" from graph_nodes n
  where n.name = $3 and ${ownRows('n')} order by external_id limit 20`);

/** externalIds of the first nodes of a name. */
export async function namesakes(tx: Transaction, graph: GraphRow, name: string): Promise<string[]> {
  const { rows } = await tx.query<{ externalId: string }>(selectNamesakes([graph.developerId, graph.no, name]));
  return rows.map(({ externalId }) => externalId);
}

const upsertPending = prepared(`with written as (
    insert into graph_pending_edges (developer_id, graph_no, from_ref, to_ref, relation, properties)
    select $1, $2, * from unnest($3::text[], $4::text[], $5::text[], $6::text[])
    on conflict (developer_id, graph_no, from_ref, to_ref, relation) do update set properties = excluded.properties
      where excluded.properties is not null
    returning xmax = 0 as is_new
  )
  select count(*) filter (where is_new)::int as inserted from written`);

/** Keeps edges that cannot be connected yet; all of them are different. */
export async function writePending(tx: Transaction, graph: GraphRow, columns: PendingColumns): Promise<number> {
  const { from, to, relations, properties } = columns;
  const { rows } = await tx.query<{ inserted: number }>(
    upsertPending([graph.developerId, graph.no, from, to, relations, properties]),
  );
  const inserted = rows[0]?.inserted ?? 0;
  graph.pendingEdgeCount += inserted;
  return inserted;
}

const connect = prepared(`with waiting as materialized (
    select ctid as place, p.* from graph_pending_edges p where developer_id = $1 and graph_no = $2
      and ($3::text[] is null or from_ref = any ($3::text[]) or to_ref = any ($3::text[]))
  ), refs as (
    select from_ref as ref from waiting union select to_ref from waiting
  ), resolved as materialized (
    select r.ref, coalesce(e.no, case m.n when 1 then m.no end) as no from refs r ${MATCHES}
  ), ready as materialized (
    select w.*, f.no as from_no, t.no as to_no, v.no as relation_no
    from waiting w
    join resolved f on f.ref = w.from_ref and f.no is not null
    join resolved t on t.ref = w.to_ref and t.no is not null
    join graph_words v on v.developer_id = $1 and v.graph_no = $2 and v.kind = 'relation' and v.word = w.relation
  ), removed as (
    delete from graph_pending_edges p using ready r
    where p.ctid = r.place and p.developer_id = $1
  ), inserted as (
    insert into graph_edges (developer_id, graph_no, from_no, to_no, relation_no, properties)
    select distinct on (from_no, to_no, relation_no) $1, $2, from_no, to_no, relation_no, nullif(properties, '{}')
    from ready order by from_no, to_no, relation_no
    on conflict do nothing
    returning from_no, to_no, relation_no, properties
  ), tally as (
    select relation_no, count(*)::int as d from inserted group by relation_no
  ), counted as (
    update graph_words w set uses = uses + d from tally t
    where w.no = t.relation_no and ${ownRows('w')}
  )
  select (select count(*) from ready)::int as removed, (select count(*) from inserted)::int as inserted,
    (select json_agg(json_build_array(from_no, to_no, relation_no, 1 + (properties is not null)::int))
      from inserted) as changes`);

/** Connects the pending edges whose ends exist now; of those alone that use one of the references, unless null. */
export async function connectPending(
  tx: Transaction,
  graph: GraphRow,
  references: string | null,
): Promise<{ removed: number; changes: EdgeChange[] }> {
  const { rows } = await tx.query<{ removed: number; inserted: number; changes: EdgeChange[] | null }>(
    connect([graph.developerId, graph.no, references]),
  );
  const { removed, inserted, changes } = rows[0] ?? { removed: 0, inserted: 0, changes: null };
  graph.pendingEdgeCount -= removed;
  graph.edgeCount += inserted;
  return { removed, changes: changes ?? [] };
}
