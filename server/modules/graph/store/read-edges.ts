import { ownRows } from './own-rows.ts';
import type { GraphEdge } from '../../../../contract/shared/graph-shapes.ts';
import { prepared, type Queryable } from '../../../platform/db/index.ts';
import { arrayOf } from './array-literal.ts';
import type { GraphKey } from './graph-row.ts';
import { parseProperties } from './read-nodes.ts';
import { PROPERTIES_BYTES } from './read-properties.ts';

export interface EdgeRow {
  from: string;
  to: string;
  relation: string;
  properties: string | null;
}

export function wireEdge(appId: string, { from, to, relation, properties }: EdgeRow): GraphEdge {
  return { appId, from, to, relation, properties: parseProperties(properties) };
}

export interface EdgeQuery {
  from?: string | undefined;
  to?: string | undefined;
  relation?: string | undefined;
  /** Edges behind this one: its place in the order of the list. */
  after?: readonly (string | number)[] | undefined;
  limit: number;
}

/** Conditions of a query; each `?` stands for its value. */
function where(first: readonly unknown[], conditions: readonly (readonly [string, unknown])[]) {
  const values = [...first];
  const given = conditions.filter(([, value]) => value !== undefined);
  const texts = given.map(([text, value]) => text.replaceAll('?', `$${values.push(value)}`));
  return { text: texts.map((text) => ` and ${text}`).join(''), values };
}

const IDS = `select external_id from graph_nodes n where ${ownRows('n')} and n.no =`;
const WORDS = "from graph_words w where w.developer_id = $1 and w.graph_no = $2 and w.kind = 'relation'";
const CONNECTED = `select (${IDS} e.from_no) as "from", (${IDS} e.to_no) as "to",
    (select word from graph_words w where w.no = e.relation_no and ${ownRows('w')}) as relation, e.properties,
    json_build_array(e.from_no, e.to_no, e.relation_no) as place
  from graph_edges e
  where e.developer_id = $1 and e.graph_no = $2`;
const NO_OF = '(select no from graph_nodes where developer_id = $1 and graph_no = $2 and external_id = ?)';

export interface EdgePage {
  edges: (EdgeRow & { place: (string | number)[] })[];
  hasMore: boolean;
}

/** Reads rows in their order and one more than are wanted, to tell whether there are more; a large page ends early. */
async function readPage(db: Queryable, { text, values }: { text: string; values: unknown[] }): Promise<EdgePage> {
  const page = `select "from", "to", relation, properties, place, found from (
      select *, coalesce(sum(octet_length(properties)) over (order by n), 0) as bytes from (
        select *, row_number() over () as n, count(*) over ()::int as found from (${text} limit $3) rows
      ) numbered
    ) summed where n < $3 and (n = 1 or bytes <= ${PROPERTIES_BYTES}) order by n`;
  const { rows } = await db.query<EdgePage['edges'][number] & { found: number }>({ text: page, values });
  return { edges: rows, hasMore: rows.length < (rows[0]?.found ?? 0) };
}

/** A page of connected edges, in an order that no write changes. */
export function readEdges(db: Queryable, graph: GraphKey, query: EdgeQuery): Promise<EdgePage> {
  const { text, values } = where(
    [graph.developerId, graph.no, query.limit + 1],
    [
      [`e.from_no = ${NO_OF}`, query.from],
      [`e.to_no = ${NO_OF}`, query.to],
      [`e.relation_no = (select no ${WORDS} and w.word = ?)`, query.relation],
      ['(e.from_no, e.to_no, e.relation_no) > ((?::int[])[1], (?::int[])[2], (?::int[])[3])', query.after],
    ],
  );
  return readPage(db, { text: `${CONNECTED}${text} order by e.from_no, e.to_no, e.relation_no`, values });
}

/** A page of pending edges, in order of what was written. */
export function readPendingEdges(db: Queryable, graph: GraphKey, query: EdgeQuery): Promise<EdgePage> {
  const { text, values } = where(
    [graph.developerId, graph.no, query.limit + 1],
    [
      ['from_ref = ?', query.from],
      ['to_ref = ?', query.to],
      ['relation = ?', query.relation],
      ['(from_ref, to_ref, relation) > ((?::text[])[1], (?::text[])[2], (?::text[])[3])', query.after],
    ],
  );
  const page = `select from_ref as "from", to_ref as "to", relation, properties,
      json_build_array(from_ref, to_ref, relation) as place
    from graph_pending_edges where developer_id = $1 and graph_no = $2${text}
    order by from_ref, to_ref, relation`;
  return readPage(db, { text: page, values });
}

const selectPending = prepared(`select from_ref as "from", to_ref as "to", relation, properties
  from graph_pending_edges
  where developer_id = $1 and graph_no = $2 and from_ref = $3 and to_ref = $4 and relation = $5`);

export async function findPending(
  db: Queryable,
  graph: GraphKey,
  { from, to, relation }: Omit<EdgeRow, 'properties'>,
): Promise<EdgeRow | undefined> {
  return (await db.query<EdgeRow>(selectPending([graph.developerId, graph.no, from, to, relation]))).rows[0];
}

const selectWords = prepared(`select no, word from graph_words
  where developer_id = $1 and graph_no = $2 and kind = $3 and ($4::text[] is null or word = any ($4::text[]))`);

/** Words of a graph by their numbers; only some of them, when asked for. */
export async function readWords(
  db: Queryable,
  graph: GraphKey,
  { kind, words }: { kind: 'type' | 'relation'; words?: readonly string[] },
): Promise<Map<number, string>> {
  const { rows } = await db.query<{ no: number; word: string }>(
    selectWords([graph.developerId, graph.no, kind, words === undefined ? null : arrayOf(words)]),
  );
  return new Map(rows.map(({ no, word }) => [no, word]));
}
