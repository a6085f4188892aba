import { prepared, type Queryable } from '../../../platform/db/index.ts';
import { intArrayOf } from './array-literal.ts';
import { ownRows } from './own-rows.ts';
import type { GraphKey } from './graph-row.ts';

/** Bytes of properties of nodes, and as many of edges, in one answer. */
export const PROPERTIES_BYTES = 16 * 1024 * 1024;

/** Properties of nodes or edges, in the order they were asked for. */
export interface PropertiesRead {
  /** JSON texts; empty where there are none. */
  texts: string[];
  /** How many have theirs; those behind are left out because there are too many. The first always has. */
  whole: number;
}

/** Lines of one text are read far faster than as many rows; JSON texts have no line breaks. */
function statement(items: string) {
  return prepared(`select string_agg(case when fits then coalesce(properties, '') else '' end, e'\\n' order by place) as lines,
      count(*) filter (where fits)::int as whole
    from (
      select place, properties,
        place = 1 or coalesce(sum(octet_length(properties)) over (order by place), 0) <= ${PROPERTIES_BYTES} as fits
      from ${items}
    ) s`);
}

const ofNodes = statement(`unnest($3::int[]) with ordinality p (no, place)
  left join lateral (select properties from graph_nodes n where n.no = p.no and ${ownRows('n')} limit 1) n on true`);
const ofEdges =
  statement(`unnest($3::int[], $4::int[], $5::int[]) with ordinality p (from_no, to_no, relation_no, place)
  left join lateral (
    select properties from graph_edges where developer_id = $1 and graph_no = $2 and from_no = p.from_no
      and to_no = p.to_no and relation_no = p.relation_no limit 1
  ) e on true`);

async function readProperties(
  db: Queryable,
  statementOf: typeof ofNodes,
  { graph, columns }: { graph: GraphKey; columns: (readonly number[])[] },
): Promise<PropertiesRead> {
  if (columns[0]?.length === 0) return { texts: [], whole: 0 };
  const { rows } = await db.query<{ lines: string | null; whole: number }>(
    statementOf([graph.developerId, graph.no, ...columns.map(intArrayOf)]),
  );
  return { texts: rows[0]?.lines?.split('\n') ?? [], whole: rows[0]?.whole ?? 0 };
}

export function nodeProperties(db: Queryable, graph: GraphKey, nos: readonly number[]): Promise<PropertiesRead> {
  return readProperties(db, ofNodes, { graph, columns: [nos] });
}

/** An edge by its numbers. */
export interface NumberedEdge {
  from: number;
  to: number;
  relation: number;
}

export function edgeProperties(
  db: Queryable,
  graph: GraphKey,
  edges: readonly NumberedEdge[],
): Promise<PropertiesRead> {
  const columns = [edges.map(({ from }) => from), edges.map(({ to }) => to), edges.map(({ relation }) => relation)];
  return readProperties(db, ofEdges, { graph, columns });
}
