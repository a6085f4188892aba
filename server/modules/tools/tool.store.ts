import type { Execution } from '../../../contract/routes/tools.ts';
import { prepared, type Queryable, type Transaction } from '../../platform/db/index.ts';

export interface ToolRow {
  id: string;
  developerId: string;
  name: string;
  description: string;
  appId: string | null;
  inputSchema: Record<string, unknown>;
  execution: Execution | null;
  enabled: boolean;
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = `id, developer_id as "developerId", name, description, app_id as "appId",
  input_schema as "inputSchema", execution, enabled, created_at as "createdAt", updated_at as "updatedAt"`;

export type NewTool = Omit<ToolRow, 'enabled' | 'createdAt' | 'updatedAt'>;

/** Inserts a tool, or replaces what the one of that name says; `enabled` and `id` of an existing one stay. */
export async function upsertTool(tx: Transaction, tool: NewTool): Promise<{ row: ToolRow; isNew: boolean }> {
  const { rows } = await tx.query<ToolRow & { isNew: boolean }>({
    text: `insert into tools (developer_id, name, id, description, app_id, input_schema, execution)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (developer_id, name) do update set description = excluded.description, app_id = excluded.app_id,
        input_schema = excluded.input_schema, execution = excluded.execution, updated_at = now()
      returning ${COLUMNS}, xmax = 0 as "isNew"`,
    values: [
      tool.developerId,
      tool.name,
      tool.id,
      tool.description,
      tool.appId,
      JSON.stringify(tool.inputSchema),
      tool.execution === null ? null : JSON.stringify(tool.execution),
    ],
  });
  const [stored] = rows;
  if (!stored) throw new Error('an upsert gave no row');
  const { isNew, ...row } = stored;
  return { row, isNew };
}

/** A tool, locked until the transaction ends. */
export async function lockTool(tx: Transaction, developerId: string, name: string): Promise<ToolRow | undefined> {
  const { rows } = await tx.query<ToolRow>({
    text: `select ${COLUMNS} from tools where developer_id = $1 and name = $2 for update`,
    values: [developerId, name],
  });
  return rows[0];
}

export async function saveTool(tx: Transaction, tool: ToolRow): Promise<ToolRow> {
  const { rows } = await tx.query<ToolRow>({
    text: `update tools set description = $3, app_id = $4, input_schema = $5, execution = $6, enabled = $7,
        updated_at = now()
      where developer_id = $1 and name = $2 returning ${COLUMNS}`,
    values: [
      tool.developerId,
      tool.name,
      tool.description,
      tool.appId,
      JSON.stringify(tool.inputSchema),
      tool.execution === null ? null : JSON.stringify(tool.execution),
      tool.enabled,
    ],
  });
  const [stored] = rows;
  if (!stored) throw new Error('an update of a locked row gave no row');
  return stored;
}

/** Whether there was such a tool. */
export async function removeTool(tx: Transaction, developerId: string, name: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: 'delete from tools where developer_id = $1 and name = $2',
    values: [developerId, name],
  });
  return rowCount > 0;
}

const countAll = prepared('select count(*)::int as count from tools where developer_id = $1');

export async function countTools(db: Queryable, developerId: string): Promise<number> {
  return (await db.query<{ count: number }>(countAll([developerId]))).rows[0]?.count ?? 0;
}

const measureAll = prepared(`select coalesce(sum(octet_length(description) + octet_length(input_schema::text)
    + coalesce(octet_length(execution::text), 0)), 0)::float8 as bytes
  from tools where developer_id = $1`);

/** What the tools of a developer come to, in bytes. */
export async function sizeOfTools(db: Queryable, developerId: string): Promise<number> {
  return (await db.query<{ bytes: number }>(measureAll([developerId]))).rows[0]?.bytes ?? 0;
}

const selectAll = prepared(`select ${COLUMNS} from tools where developer_id = $1 order by name collate "C"`);

/** All tools of a developer, in order of name. */
export async function allTools(db: Queryable, developerId: string): Promise<ToolRow[]> {
  return (await db.query<ToolRow>(selectAll([developerId]))).rows;
}
