import { prepared, type Queryable, type Transaction } from '../../../platform/db/index.ts';
import type { BaseKey } from './base.store.ts';
import { documentOfNumber } from './find-one-index.ts';

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
  batch: number;
  vector: Buffer;
}

const selectChunks = prepared(`select c.document_no as "documentNo", c.position, c.heading, c.text, d.title,
    d.metadata::text as metadata
  from (
    select * from knowledge_chunks
    where developer_id = $1 and base_no = $2 and (document_no, position) > ($3::bigint, $4::int)
    order by document_no, position limit $5
  ) c
  join ${documentOfNumber('c.document_no')}
  order by c.document_no, c.position`);

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

const selectVectors = prepared(`select document_no as "documentNo", position, no as batch, vector
  from knowledge_vectors
  where developer_id = $1 and base_no = $2 and model = $3 and no > $4 and vector is not null
  order by no fetch first $5 rows with ties`);

/** Vectors of whole batches behind one, in the order of the batches: about so many. */
export async function vectorsAfter(
  tx: Transaction,
  { developerId, no }: BaseKey,
  { model, batch, limit }: { model: string; batch: number; limit: number },
): Promise<VectorRow[]> {
  return (await tx.query<VectorRow>(selectVectors([developerId, no, model, batch, limit]))).rows;
}
