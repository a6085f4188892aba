import type { BaseType } from '../../../../contract/routes/knowledge.ts';
import { prepared, type Queryable, type Transaction } from '../../../platform/db/index.ts';

/** Which base of which developer. */
export interface BaseName {
  developerId: string;
  id: string;
}

/** A base that exists, by its number. */
export interface BaseKey extends BaseName {
  no: number;
}

export interface BaseRow extends BaseKey {
  name: string;
  description: string;
  type: BaseType;
  documentCount: number;
  /** Raised by every write of documents. */
  counter: number;
  /** Raised by every batch of vectors. */
  vectorCounter: number;
  createdAt: Date;
  updatedAt: Date;
}

/** What a change may replace. */
export type BaseChange = Partial<Pick<BaseRow, 'name' | 'description' | 'type'>>;

const COLUMNS = `developer_id as "developerId", id, no, name, description, type, document_count as "documentCount",
  counter, vector_counter as "vectorCounter", created_at as "createdAt", updated_at as "updatedAt"`;

const insert = prepared(`insert into knowledge_bases (developer_id, id, name, description, type)
  values ($1, $2, $3, $4, $5) returning ${COLUMNS}`);

export async function insertBase(
  db: Queryable,
  base: BaseName & Pick<BaseRow, 'name' | 'description' | 'type'>,
): Promise<BaseRow> {
  const { developerId, id, name, description, type } = base;
  const [row] = (await db.query<BaseRow>(insert([developerId, id, name, description, type]))).rows;
  if (!row) throw new Error('an insert gave no row');
  return row;
}

const select = prepared(`select ${COLUMNS} from knowledge_bases where developer_id = $1 and id = $2`);

export async function findBase(db: Queryable, { developerId, id }: BaseName): Promise<BaseRow | undefined> {
  return (await db.query<BaseRow>(select([developerId, id]))).rows[0];
}

const lock = prepared(`select ${COLUMNS} from knowledge_bases where developer_id = $1 and id = $2 for update`);

/** The row of a base, locked until the transaction ends. */
export async function lockBase(tx: Transaction, { developerId, id }: BaseName): Promise<BaseRow | undefined> {
  return (await tx.query<BaseRow>(lock([developerId, id]))).rows[0];
}

const selectAfter = prepared(`select ${COLUMNS} from knowledge_bases
  where developer_id = $1 and no > $2 order by no limit $3`);

/** Bases of a developer, oldest first, behind the one of a number. */
export async function basesAfter(
  db: Queryable,
  developerId: string,
  { after = 0, limit }: { after?: number | undefined; limit?: number | undefined },
): Promise<BaseRow[]> {
  return (await db.query<BaseRow>(selectAfter([developerId, after, limit ?? null]))).rows;
}

const update = prepared(`update knowledge_bases
  set name = coalesce($3, name), description = coalesce($4, description), type = coalesce($5, type), updated_at = now()
  where developer_id = $1 and id = $2 returning ${COLUMNS}`);

/** Replaces what is given; undefined when there is no such base. */
export async function changeBase(
  db: Queryable,
  { developerId, id }: BaseName,
  { name, description, type }: BaseChange,
): Promise<BaseRow | undefined> {
  const values = [developerId, id, name ?? null, description ?? null, type ?? null];
  return (await db.query<BaseRow>(update(values))).rows[0];
}

const TABLES = [
  'knowledge_vectors',
  'knowledge_embeddings',
  'knowledge_chunks',
  'knowledge_removals',
  'knowledge_documents',
];

/** Takes a locked base out of the database, with everything in it. */
export async function removeBase(tx: Transaction, { developerId, id, no }: BaseKey): Promise<void> {
  for (const table of TABLES) {
    await tx.query({
      text: `delete from ${table} where developer_id = $1 and base_no = $2`,
      values: [developerId, no],
    });
  }
  await tx.query({
    text: 'delete from knowledge_bases where developer_id = $1 and id = $2',
    values: [developerId, id],
  });
}
