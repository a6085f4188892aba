import { prepared, type Queryable, type Transaction } from '../../../platform/db/index.ts';
import type { BaseKey } from './base.store.ts';

export interface ChunkRow {
  documentNo: number;
  position: number;
  title: string;
  heading: string;
  text: string;
  /** JSON text, of the document. */
  metadata: string;
}

export interface VectorRow {
  documentNo: number;
  position: number;
  vector: Buffer;
}

const selectChunks = prepared(`select c.document_no as "documentNo", c.position, c.heading, c.text, d.title,
    d.metadata::text as metadata
  from knowledge_chunks c
  join knowledge_documents d
    on d.developer_id = c.developer_id and d.base_no = c.base_no and d.no = c.document_no
  where c.developer_id = $1 and c.base_no = $2 and (c.document_no, c.position) > ($3::bigint, $4::int)
  order by c.document_no, c.position limit $5`);

/** Chunks behind a place, in order. */
export async function chunksAfter(
  db: Queryable,
  { developerId, no }: BaseKey,
  { documentNo, position, limit }: { documentNo: number; position: number; limit: number },
): Promise<ChunkRow[]> {
  return (await db.query<ChunkRow>(selectChunks([developerId, no, documentNo, position, limit]))).rows;
}

const selectRemovals = prepared(`select document_no as no from knowledge_removals
  where developer_id = $1 and base_no = $2 and counter > $3`);

/** Numbers of documents that went after a counter. */
export async function removalsAfter(tx: Transaction, { developerId, no }: BaseKey, counter: number): Promise<number[]> {
  const { rows } = await tx.query<{ no: number }>(selectRemovals([developerId, no, counter]));
  return rows.map((row) => row.no);
}

const selectVectors = prepared(`select document_no as "documentNo", position, vector from knowledge_vectors
  where developer_id = $1 and base_no = $2 and model = $3 and no = $4 and vector is not null`);

/** The vectors of one batch. */
export async function vectorsOf(
  tx: Transaction,
  { developerId, no }: BaseKey,
  { model, batch }: { model: string; batch: number },
): Promise<VectorRow[]> {
  return (await tx.query<VectorRow>(selectVectors([developerId, no, model, batch]))).rows;
}

const selectBatches = prepared(`select distinct no from knowledge_vectors
  where developer_id = $1 and base_no = $2 and model = $3 and no > $4 order by no`);

/** Batches of vectors behind one, in order. */
export async function batchesAfter(
  tx: Transaction,
  { developerId, no }: BaseKey,
  { model, after }: { model: string; after: number },
): Promise<number[]> {
  const { rows } = await tx.query<{ no: number }>(selectBatches([developerId, no, model, after]));
  return rows.map((row) => row.no);
}
