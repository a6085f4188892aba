import type { AppDefinition, AppStatus } from '../../../contract/routes/apps.ts';
import { prepared, type Queryable, type Transaction } from '../../platform/db/index.ts';
import type { Sealed } from './seal-definition.ts';

export interface AppRow {
  developerId: string;
  appId: string;
  id: string;
  /** Secrets are "***". */
  definition: AppDefinition;
  secrets: Sealed;
  status: AppStatus;
  /** The latest published version; 0 before the first. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = `developer_id as "developerId", app_id as "appId", id, definition, secrets, status, version,
  created_at as "createdAt", updated_at as "updatedAt"`;

function only(rows: readonly AppRow[]): AppRow {
  const [row] = rows;
  if (!row) throw new Error('a write gave no row');
  return row;
}

/** Undefined when there is an app of that id already; nothing is written then. */
export async function insertApp(
  tx: Transaction,
  app: Pick<AppRow, 'developerId' | 'appId' | 'id' | 'definition' | 'secrets'>,
): Promise<AppRow | undefined> {
  const { rows } = await tx.query<AppRow>({
    text: `insert into apps (developer_id, app_id, id, definition, secrets) values ($1, $2, $3, $4, $5)
      on conflict (developer_id, app_id) do nothing returning ${COLUMNS}`,
    values: [app.developerId, app.appId, app.id, JSON.stringify(app.definition), JSON.stringify(app.secrets)],
  });
  return rows[0];
}

/** An app, locked until the transaction ends. */
export async function lockApp(tx: Transaction, developerId: string, appId: string): Promise<AppRow | undefined> {
  // What PostgreSQL cannot hold is not there.
  if (appId.includes('\0')) return undefined;
  const { rows } = await tx.query<AppRow>({
    text: `select ${COLUMNS} from apps where developer_id = $1 and app_id = $2 for update`,
    values: [developerId, appId],
  });
  return rows[0];
}

export async function saveApp(tx: Transaction, app: AppRow): Promise<AppRow> {
  const { rows } = await tx.query<AppRow>({
    text: `update apps set definition = $3, secrets = $4, status = $5, version = $6, updated_at = now(),
        published_at = case when $6 > version then now() else published_at end
      where developer_id = $1 and app_id = $2 returning ${COLUMNS}`,
    values: [
      app.developerId,
      app.appId,
      JSON.stringify(app.definition),
      JSON.stringify(app.secrets),
      app.status,
      app.version,
    ],
  });
  return only(rows);
}

export async function removeApp(tx: Transaction, developerId: string, appId: string): Promise<void> {
  await tx.query({
    text: 'delete from apps where developer_id = $1 and app_id = $2',
    values: [developerId, appId],
  });
}

const selectAll = prepared(`select ${COLUMNS} from apps where developer_id = $1 order by app_id`);

/** All apps of a developer, in order of appId. */
export async function allApps(db: Queryable, developerId: string): Promise<AppRow[]> {
  return (await db.query<AppRow>(selectAll([developerId]))).rows;
}

const measureAll = prepared(`select count(*)::int as count,
    coalesce(sum(octet_length(definition::text) + octet_length(secrets::text)), 0)::float8 as bytes
  from apps where developer_id = $1`);

/** How many apps a developer has, and what they come to. */
export async function measureApps(db: Queryable, developerId: string): Promise<{ count: number; bytes: number }> {
  const { rows } = await db.query<{ count: number; bytes: number }>(measureAll([developerId]));
  return rows[0] ?? { count: 0, bytes: 0 };
}
