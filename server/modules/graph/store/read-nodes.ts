import { ownRows } from './own-rows.ts';
import type { GraphNode } from '../../../../contract/shared/graph-shapes.ts';
import { prepared, type Queryable } from '../../../platform/db/index.ts';
import { arrayOf, intArrayOf } from './array-literal.ts';
import type { GraphKey } from './graph-row.ts';
import { PROPERTIES_BYTES } from './read-properties.ts';
import { isStorable } from './storable-text.ts';

/** Characters of a node's properties whose words are searched. */
const SEARCHED_CHARACTERS = 20_000;

export interface NodeRow {
  no: number;
  objectType: string;
  name: string;
  externalId: string;
  properties: string | null;
}

// Words, and nodes of a list, are looked up one by one: see write-items.ts.
const COLUMNS = `n.no, n.name, n.external_id as "externalId", n.properties,
  (select word from graph_words w where w.no = n.type_no and ${ownRows('w')}) as "objectType"`;
const SOURCE = 'graph_nodes n';
const OWN = 'n.developer_id = $1 and n.graph_no = $2';

/** JSON text of properties as a value. */
export function parseProperties(text: string | null): Record<string, unknown> {
  return text === null ? {} : asObject(JSON.parse(text));
}

/** Safe because only objects are ever written. */
function asObject(value: unknown): Record<string, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as Record<string, unknown>;
}

export function wireNode(appId: string, { objectType, name, externalId, properties }: NodeRow): GraphNode {
  return { appId, objectType, name, externalId, properties: parseProperties(properties) };
}

const selectOne = prepared(`select ${COLUMNS} from ${SOURCE} where ${OWN} and n.external_id = $3`);

export async function findNode(db: Queryable, graph: GraphKey, externalId: string): Promise<NodeRow | undefined> {
  if (!isStorable(externalId)) return undefined;
  return (await db.query<NodeRow>(selectOne([graph.developerId, graph.no, externalId]))).rows[0];
}

const selectNamed = prepared(
  `select ${COLUMNS} from ${SOURCE} where n.name = $3 and ${ownRows('n')} order by n.no limit $4`,
);

/** Nodes of exactly this name, the oldest first. */
export async function nodesNamed(
  db: Queryable,
  graph: GraphKey,
  { name, limit }: { name: string; limit: number },
): Promise<NodeRow[]> {
  return (await db.query<NodeRow>(selectNamed([graph.developerId, graph.no, name, limit]))).rows;
}

const selectSome = prepared(`select no, "objectType", name, "externalId",
    case when fits then properties end as properties, not fits as "isCut"
  from (
    select ${COLUMNS}, p.place,
      p.place = 1 or coalesce(sum(octet_length(n.properties)) over (order by p.place), 0) <= ${PROPERTIES_BYTES} as fits
    from unnest($3::int[]) with ordinality p (no, place)
    cross join lateral (select * from graph_nodes n where n.no = p.no and ${ownRows('n')} limit 1) n
  ) s order by place`);

export interface SomeNodes {
  rows: NodeRow[];
  /** The first node whose properties are left out, because there are too many. */
  cutAt: number | undefined;
}

/** Nodes by their numbers, in that order; those that are gone are not in it. */
export async function nodesByNo(db: Queryable, graph: GraphKey, nos: readonly number[]): Promise<SomeNodes> {
  if (nos.length === 0) return { rows: [], cutAt: undefined };
  const { rows } = await db.query<NodeRow & { isCut: boolean }>(
    selectSome([graph.developerId, graph.no, intArrayOf(nos)]),
  );
  return { rows, cutAt: rows.find(({ isCut }) => isCut)?.no };
}

export interface NodeFilter {
  objectType?: string | undefined;
  /** JSON text of what the properties must contain. */
  properties?: string | undefined;
}

const FILTER = `($3::text is null or n.type_no = (
    select no from graph_words w where w.developer_id = $1 and w.graph_no = $2 and w.kind = 'type' and w.word = $3))
  and ($4::text is null or coalesce(n.properties, '{}')::jsonb @> $4::jsonb)`;

const selectPage = prepared(`select no, "objectType", name, "externalId", properties from (
    select *, sum(octet_length(properties)) over (order by "externalId") as bytes, row_number() over () as place from (
      select ${COLUMNS} from ${SOURCE} where ${OWN} and ${FILTER} and n.external_id > $5
      order by n.external_id limit $6
    ) page
  ) s where place = 1 or coalesce(bytes, 0) <= ${PROPERTIES_BYTES} order by "externalId"`);

/** A page of nodes behind an externalId, in that order; fewer than asked for, where properties are large. */
export async function readNodePage(
  db: Queryable,
  graph: GraphKey,
  page: { filter: NodeFilter; after: string; limit: number },
): Promise<NodeRow[]> {
  const { filter, after, limit } = page;
  const values = [graph.developerId, graph.no, filter.objectType ?? null, filter.properties ?? null, after, limit];
  return (await db.query<NodeRow>(selectPage(values))).rows;
}

const countAll = prepared(`select count(*)::int as total from ${SOURCE} where ${OWN} and ${FILTER}`);

export async function countNodes(db: Queryable, graph: GraphKey, filter: NodeFilter): Promise<number> {
  const values = [graph.developerId, graph.no, filter.objectType ?? null, filter.properties ?? null];
  return (await db.query<{ total: number }>(countAll(values))).rows[0]?.total ?? 0;
}

const selectPassing = prepared(`select n.no from unnest($5::int[]) with ordinality p (no, place)
  cross join lateral (select * from graph_nodes n where n.no = p.no and ${ownRows('n')} limit 1) n
  where ${FILTER} order by place`);

/** Those of the numbers whose nodes pass a filter, in their order. */
export async function filterNodes(
  db: Queryable,
  graph: GraphKey,
  { nos, filter }: { nos: readonly number[]; filter: NodeFilter },
): Promise<number[]> {
  if (nos.length === 0 || (filter.objectType === undefined && filter.properties === undefined)) return [...nos];
  const { rows } = await db.query<{ no: number }>(
    selectPassing([graph.developerId, graph.no, filter.objectType ?? null, filter.properties ?? null, intArrayOf(nos)]),
  );
  return rows.map(({ no }) => no);
}

const selectMatching = prepared(
  `select n.no from ${SOURCE} where ${OWN} and ${FILTER} order by n.external_id limit $5`,
);

/** Numbers of the nodes that pass a filter, in order of externalId. */
export async function filteredNodes(
  db: Queryable,
  graph: GraphKey,
  { filter, limit }: { filter: NodeFilter; limit: number },
): Promise<number[]> {
  const values = [graph.developerId, graph.no, filter.objectType ?? null, filter.properties ?? null, limit];
  return (await db.query<{ no: number }>(selectMatching(values))).rows.map(({ no }) => no);
}

/** `[no, externalId, name, whether the properties hold all words]`. */
export type NamedNode = [number, string, string, boolean];

const selectNames =
  prepared(`select json_agg(json_build_array(no, external_id, name, holds) order by external_id) as nodes
  from (
    select n.no, n.external_id, n.name,
      n.properties is not null and (select bool_and(strpos(lower(n.properties), word) > 0) from unnest($7::text[]) w (word))
        is true as holds
    from ${SOURCE} where ${OWN} and ${FILTER} and n.external_id > $5 order by n.external_id limit $6
  ) s`);

/** Nodes behind an externalId that pass a filter, with their names. */
export async function namedNodes(
  db: Queryable,
  graph: GraphKey,
  page: { filter: NodeFilter; after: string; limit: number; words: readonly string[] },
): Promise<NamedNode[]> {
  const { filter, after, limit, words } = page;
  const { objectType = null, properties = null } = filter;
  const values = [graph.developerId, graph.no, objectType, properties, after, limit, arrayOf(words)];
  return (await db.query<{ nodes: NamedNode[] | null }>(selectNames(values))).rows[0]?.nodes ?? [];
}

const selectProperties = prepared(`select n.no, left(n.properties, ${SEARCHED_CHARACTERS}) as properties,
    length(n.properties) > ${SEARCHED_CHARACTERS} as "isCut"
  from unnest($3::int[]) p (no)
  cross join lateral (
    select no, properties from graph_nodes n where n.no = p.no and ${ownRows('n')} and n.properties is not null limit 1
  ) n`);

/** Properties as they are searched: JSON texts by number of the node; a long one is cut, and a text as a whole. */
export async function searchedProperties(
  db: Queryable,
  graph: GraphKey,
  nos: readonly number[],
): Promise<Map<number, string>> {
  if (nos.length === 0) return new Map();
  const { rows } = await db.query<{ no: number; properties: string; isCut: boolean }>(
    selectProperties([graph.developerId, graph.no, intArrayOf(nos)]),
  );
  return new Map(rows.map(({ no, properties, isCut }) => [no, isCut ? JSON.stringify(properties) : properties]));
}
