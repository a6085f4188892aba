import { prepared, type Queryable, type Transaction } from '../../platform/db/index.ts';
import type { Manifest } from './manifest.ts';
import type { Sealed } from './seal-definition.ts';

export interface InstallationRow {
  /** The installer. */
  developerId: string;
  id: string;
  publisherId: string;
  /** apps.id */
  appKey: string;
  version: number;
  /** By name, sealed. */
  credentials: Sealed;
  createdAt: Date;
  updatedAt: Date;
  /** Of the pinned version. */
  manifest: Manifest;
  /** Header templates of the pinned version, sealed. */
  headerSecrets: Sealed;
}

const COLUMNS = `i.developer_id as "developerId", i.id, i.publisher_id as "publisherId", i.app_key as "appKey", i.version,
  i.credentials, i.created_at as "createdAt", i.updated_at as "updatedAt", v.manifest, v.secrets as "headerSecrets"`;
const JOINED = `app_installations i join app_versions v
  on v.developer_id = i.publisher_id and v.app_key = i.app_key and v.version = i.version`;

const selectAll = prepared(`select ${COLUMNS} from ${JOINED} where i.developer_id = $1 order by i.id desc`);

/** All installations of a developer, newest first. */
export async function allInstallations(db: Queryable, developerId: string): Promise<InstallationRow[]> {
  return (await db.query<InstallationRow>(selectAll([developerId]))).rows;
}

/** An installation, locked until the transaction ends. */
export async function lockInstallation(
  tx: Transaction,
  developerId: string,
  id: string,
): Promise<InstallationRow | undefined> {
  const { rows } = await tx.query<InstallationRow>({
    text: `select ${COLUMNS} from ${JOINED} where i.developer_id = $1 and i.id = $2 for update of i`,
    values: [developerId, id],
  });
  return rows[0];
}

/** The installation of an app, locked until the transaction ends. */
export async function lockInstallationOf(
  tx: Transaction,
  developerId: string,
  appKey: string,
): Promise<InstallationRow | undefined> {
  const { rows } = await tx.query<InstallationRow>({
    text: `select ${COLUMNS} from ${JOINED} where i.developer_id = $1 and i.app_key = $2 for update of i`,
    values: [developerId, appKey],
  });
  return rows[0];
}

/** Nobody else installs an app for the developer until the transaction ends. */
export async function holdInstallations(tx: Transaction, developerId: string): Promise<void> {
  await tx.query({
    text: `select pg_advisory_xact_lock(hashtextextended('app_installations ' || $1, 0))`,
    values: [developerId],
  });
}

/** How many apps a developer has installed, and what their pinned versions come to. */
export async function measureInstallations(
  tx: Transaction,
  developerId: string,
): Promise<{ count: number; bytes: number }> {
  const { rows } = await tx.query<{ count: number; bytes: number }>({
    text: `select count(*)::int as count, coalesce(sum(octet_length(v.manifest::text)), 0)::float8 as bytes
      from ${JOINED} where i.developer_id = $1`,
    values: [developerId],
  });
  return rows[0] ?? { count: 0, bytes: 0 };
}

export async function insertInstallation(
  tx: Transaction,
  row: Pick<InstallationRow, 'developerId' | 'id' | 'publisherId' | 'appKey' | 'version'>,
): Promise<void> {
  await tx.query({
    text: `insert into app_installations (developer_id, id, publisher_id, app_key, version)
      values ($1, $2, $3, $4, $5)`,
    values: [row.developerId, row.id, row.publisherId, row.appKey, row.version],
  });
}

/** Stores version and credentials. */
export async function saveInstallation(
  tx: Transaction,
  row: Pick<InstallationRow, 'developerId' | 'id' | 'version' | 'credentials'>,
): Promise<void> {
  await tx.query({
    text: `update app_installations set version = $3, credentials = $4, updated_at = now()
      where developer_id = $1 and id = $2`,
    values: [row.developerId, row.id, row.version, JSON.stringify(row.credentials)],
  });
}

export async function removeInstallation(tx: Transaction, developerId: string, id: string): Promise<void> {
  await tx.query({
    text: 'delete from app_installations where developer_id = $1 and id = $2',
    values: [developerId, id],
  });
}
