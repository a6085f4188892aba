import { prepared, type Queryable } from '../../../platform/db/index.ts';
import type { Direction } from '../../../../contract/shared/graph-shapes.ts';
import { intArrayOf } from './array-literal.ts';
import { ownRows } from './own-rows.ts';
import type { GraphKey } from './graph-row.ts';

/** Edges of one step that are looked at. */
const MOST_EDGES = 200_000;

const OWN = 'e.developer_id = $1 and e.graph_no = $2';

function statement({ near, far, own }: { near: string; far: string; own: string }) {
  return prepared(`select near, array_agg(far) as far, array_agg(label) as labels from (
      select ${near} as near, ${far} as far, 2 * relation_no + (properties is not null)::int as label
      from graph_edges e
      where ${own} and ${near} = any ($3::int[])
        and ($4::int is null or relation_no = $4)
      limit ${MOST_EDGES}
    ) e group by near`);
}

const outgoing = statement({ near: 'from_no', far: 'to_no', own: OWN });
const incoming = statement({ near: 'to_no', far: 'from_no', own: ownRows('e') });

type Lists = Map<number, { far: number[]; labels: number[] }>;

async function readSide(db: Queryable, statementOf: typeof outgoing, values: readonly unknown[]) {
  const { rows } = await db.query<{ near: number; far: number[]; labels: number[] }>(statementOf(values));
  const lists: Lists = new Map(rows.map(({ near, far, labels }) => [near, { far, labels }]));
  return {
    isCut: rows.reduce((sum, { far }) => sum + far.length, 0) === MOST_EDGES,
    each: (node: number, visit: (other: number, label: number) => void) => {
      const list = lists.get(node);
      for (const [i, other] of (list?.far ?? []).entries()) visit(other, list?.labels[i] ?? 0);
    },
  };
}

/** The edges of some nodes, in a direction, of one relation or all. */
export async function readSides(
  db: Queryable,
  { developerId, no }: GraphKey,
  query: { nodes: readonly number[]; direction: Direction; relation?: number | undefined },
) {
  const values = [developerId, no, intArrayOf(query.nodes), query.relation ?? null];
  const [out, into] = await Promise.all([
    query.direction === 'incoming' ? undefined : readSide(db, outgoing, values),
    query.direction === 'outgoing' ? undefined : readSide(db, incoming, values),
  ]);
  const isCut = out?.isCut === true || into?.isCut === true;
  return { ...(out ? { out } : {}), ...(into ? { in: into } : {}), isCut };
}
