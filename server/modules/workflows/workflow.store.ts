import type { Trigger, WorkflowEdge, WorkflowNode } from '../../../contract/routes/workflows.ts';
import { prepared, storableJson, type Queryable, type Transaction } from '../../platform/db/index.ts';

export interface WorkflowRow {
  developerId: string;
  id: string;
  name: string;
  description: string;
  trigger: Trigger;
  nodes: WorkflowNode[];
  edges: WorkflowEdge[];
  enabled: boolean;
  source: string;
  /** The next tick of its schedule; null without one, or while it is disabled. */
  nextTick: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = `developer_id as "developerId", id, name, description, trigger, nodes, edges, enabled, source,
  next_tick as "nextTick", created_at as "createdAt", updated_at as "updatedAt"`;

/** What a caller decides of a workflow, and when it is next due. */
export type WorkflowValues = Omit<WorkflowRow, 'source' | 'createdAt' | 'updatedAt'>;

function one(rows: WorkflowRow[]): WorkflowRow {
  const [row] = rows;
  if (!row) throw new Error('a statement that writes one workflow gave none');
  return row;
}

function valuesOf({ developerId, id, name, description, trigger, nodes, edges, enabled, nextTick }: WorkflowValues) {
  const json = [trigger, nodes, edges].map((value) => storableJson(value));
  return [developerId, id, name, description, ...json, enabled, nextTick];
}

export async function insertWorkflow(tx: Transaction, workflow: WorkflowValues): Promise<WorkflowRow> {
  const { rows } = await tx.query<WorkflowRow>({
    text: `insert into workflows
        (developer_id, id, name, description, trigger, nodes, edges, enabled, next_tick, source)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'api') returning ${COLUMNS}`,
    values: valuesOf(workflow),
  });
  return one(rows);
}

export async function saveWorkflow(tx: Transaction, workflow: WorkflowValues): Promise<WorkflowRow> {
  const { rows } = await tx.query<WorkflowRow>({
    text: `update workflows set name = $3, description = $4, trigger = $5, nodes = $6, edges = $7, enabled = $8,
        next_tick = $9, updated_at = now()
      where developer_id = $1 and id = $2 returning ${COLUMNS}`,
    values: valuesOf(workflow),
  });
  return one(rows);
}

const selectOne = prepared(`select ${COLUMNS} from workflows where developer_id = $1 and id = $2`);

export async function findWorkflow(db: Queryable, developerId: string, id: string): Promise<WorkflowRow | undefined> {
  return (await db.query<WorkflowRow>(selectOne([developerId, id]))).rows[0];
}

/** A workflow, locked until the transaction ends. */
export async function lockWorkflow(tx: Transaction, developerId: string, id: string): Promise<WorkflowRow | undefined> {
  const { rows } = await tx.query<WorkflowRow>({
    text: `select ${COLUMNS} from workflows where developer_id = $1 and id = $2 for update`,
    values: [developerId, id],
  });
  return rows[0];
}

const RUNS_OF_A_DELETE = 5000;

/** Deletes the runs of a workflow with their steps. */
async function removeRuns(tx: Transaction, developerId: string, workflowId: string): Promise<void> {
  for (;;) {
    const { rows } = await tx.query<{ id: string }>({
      text: `delete from workflow_runs where developer_id = $1 and id in
          (select id from workflow_runs where developer_id = $1 and workflow_id = $2 limit $3)
        returning id`,
      values: [developerId, workflowId, RUNS_OF_A_DELETE],
    });
    // A statement of its own: it sees steps that were written while the one above waited for their run.
    const ids = rows.map((row) => row.id);
    const text = 'delete from workflow_steps where developer_id = $1 and run_id = any($2)';
    await tx.query({ text, values: [developerId, ids] });
    if (ids.length === 0) return;
  }
}

/** Whether there was such a workflow. Its runs go with it. */
export async function removeWorkflow(tx: Transaction, developerId: string, id: string): Promise<boolean> {
  // While it is locked no run of it is written.
  if (!(await lockWorkflow(tx, developerId, id))) return false;
  await removeRuns(tx, developerId, id);
  const { rowCount } = await tx.query({
    text: 'delete from workflows where developer_id = $1 and id = $2',
    values: [developerId, id],
  });
  return rowCount > 0;
}

/** A workflow without its nodes and edges. */
export type WorkflowHead = Omit<WorkflowRow, 'nodes' | 'edges'>;

interface WorkflowPage {
  rows: WorkflowHead[];
  total: number;
}

/** Workflows with ids before `before`, newest first: ids are made in time order. */
export async function listWorkflowRows(
  db: Queryable,
  developerId: string,
  page: { before: string | null; limit: number | null },
): Promise<WorkflowPage> {
  const [rows, count] = await Promise.all([
    db.query<WorkflowHead>({
      text: `select developer_id as "developerId", id, name, description, trigger, enabled, source,
          next_tick as "nextTick", created_at as "createdAt", updated_at as "updatedAt"
        from workflows where developer_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
      values: [developerId, page.before, page.limit],
    }),
    db.query<{ total: number }>({
      text: 'select count(*)::int as total from workflows where developer_id = $1',
      values: [developerId],
    }),
  ]);
  return { rows: rows.rows, total: count.rows[0]?.total ?? 0 };
}

const selectDue = prepared(`select ${COLUMNS} from workflows where next_tick <= $1 order by next_tick limit $2
  for update skip locked`);

/** Workflows whose tick has come by a moment, locked until the transaction ends; other processes pass over them. */
export async function lockDueWorkflows(tx: Transaction, now: Date, limit: number): Promise<WorkflowRow[]> {
  return (await tx.query<WorkflowRow>(selectDue([now, limit]))).rows;
}

/** Says when a workflow is next due. */
export async function saveNextTick(tx: Transaction, workflow: WorkflowRow, nextTick: Date | null): Promise<void> {
  await tx.query({
    text: 'update workflows set next_tick = $3 where developer_id = $1 and id = $2',
    values: [workflow.developerId, workflow.id, nextTick],
  });
}

const selectTriggered = prepared(`select ${COLUMNS} from workflows w
  where enabled and trigger ->> 'type' = 'event'
    and (developer_id, trigger ->> 'event') in (select * from unnest($1::text[], $2::text[]))
  order by developer_id, id`);

/** The workflows that events of these types of these developers may start. */
export async function findTriggered(
  tx: Transaction,
  events: readonly { developerId: string; type: string }[],
): Promise<WorkflowRow[]> {
  const values = [events.map(({ developerId }) => developerId), events.map(({ type }) => type)];
  return (await tx.query<WorkflowRow>(selectTriggered(values))).rows;
}
