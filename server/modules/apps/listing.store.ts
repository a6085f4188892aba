import { prepared, type Queryable, type Transaction } from '../../platform/db/index.ts';
import type { Manifest } from './manifest.ts';

/** A published app of any developer: the one thing here that is not filtered by the caller. */
export interface ListingRow {
  id: string;
  appId: string;
  developerId: string;
  version: number;
  publishedAt: Date;
  manifest: Manifest;
}

const COLUMNS = `a.id, a.app_id as "appId", a.developer_id as "developerId", a.version, a.published_at as "publishedAt"`;
const JOINED = `apps a join app_versions v on v.developer_id = a.developer_id and v.app_key = a.id and v.version = a.version`;

export interface ListingQuery {
  /** Text in a name; null for any. */
  text: string | null;
  domain: string | null;
}

const MATCHES = `a.status = 'published'
  and ($1::text is null or strpos(lower(v.manifest #>> '{app,name}'), lower($1)) > 0
    or strpos(lower(coalesce(v.manifest #>> '{app,nameZh}', '')), lower($1)) > 0)
  and ($2::text is null or v.manifest #>> '{app,domain}' = $2)`;

const selectPage = prepared(`select ${COLUMNS}, json_build_object('app', v.manifest -> 'app') as manifest
  from ${JOINED} where ${MATCHES} and ($3::text is null or a.id < $3) order by a.id desc limit $4`);

/** Published apps older than the one with the id `before`, newest first; of the manifest only the app. */
export async function listingsBefore(
  db: Queryable,
  { text, domain }: ListingQuery,
  page: { before: string | undefined; limit: number },
): Promise<(Omit<ListingRow, 'manifest'> & { manifest: Pick<Manifest, 'app'> })[]> {
  return (await db.query<ListingRow>(selectPage([text, domain, page.before ?? null, page.limit]))).rows;
}

const countPublished = prepared(`select count(*)::int as count from ${JOINED} where ${MATCHES}`);

export async function countListings(db: Queryable, { text, domain }: ListingQuery): Promise<number> {
  return (await db.query<{ count: number }>(countPublished([text, domain]))).rows[0]?.count ?? 0;
}

const selectOne = `select ${COLUMNS}, v.manifest from ${JOINED} where a.id = $1 and a.status = 'published'`;
const readOne = prepared(selectOne);

export async function findListing(db: Queryable, id: string): Promise<ListingRow | undefined> {
  return (await db.query<ListingRow>(readOne([id]))).rows[0];
}

/** A published app that stays what it is until the transaction ends. */
export async function holdListing(tx: Transaction, id: string): Promise<ListingRow | undefined> {
  return (await tx.query<ListingRow>({ text: `${selectOne} for share of a`, values: [id] })).rows[0];
}
