import { prepared, type Transaction } from '../../../platform/db/index.ts';
import type { BaseKey } from './base.store.ts';
import { IN_BASE_BY_ID } from './find-one-index.ts';
import type { WrittenDocument } from './write-document.store.ts';

/** Removals that are kept for processes which are behind. */
export const KEPT_COUNTERS = 100_000;

export interface DocumentKey {
  no: number;
  id: string;
}

// As for ids: only the index of titles is of use to this.
const selectTitled = prepared(`select no, id from knowledge_documents
  where developer_id || '' = $1 and base_no = $2 and md5(title) = md5($3) and title = $3 order by no desc limit 1`);

/** The newest document of a title. */
export async function findTitled(
  tx: Transaction,
  { developerId, no }: BaseKey,
  title: string,
): Promise<DocumentKey | undefined> {
  return (await tx.query<DocumentKey>(selectTitled([developerId, no, title]))).rows[0];
}

const selectNo = prepared(`select no, id from knowledge_documents where ${IN_BASE_BY_ID} and id = $3`);

export async function findDocumentKey(
  tx: Transaction,
  { developerId, no }: BaseKey,
  documentId: string,
): Promise<DocumentKey | undefined> {
  return (await tx.query<DocumentKey>(selectNo([developerId, no, documentId]))).rows[0];
}

const deleteVectors = prepared(
  'delete from knowledge_vectors where developer_id = $1 and base_no = $2 and document_no = $3',
);
const deleteChunks = prepared(
  'delete from knowledge_chunks where developer_id = $1 and base_no = $2 and document_no = $3',
);
const insertRemoval = prepared('insert into knowledge_removals values ($1, $2, $3, $4)');
const deleteOldRemovals = prepared(
  'delete from knowledge_removals where developer_id = $1 and base_no = $2 and counter <= $3',
);

/** Takes out what was made of a document, and tells those who hold it in memory. */
export async function removeParts(
  tx: Transaction,
  { developerId, no }: BaseKey,
  removal: { counter: number; documentNo: number },
): Promise<void> {
  const { counter, documentNo } = removal;
  await tx.query(deleteVectors([developerId, no, documentNo]));
  await tx.query(deleteChunks([developerId, no, documentNo]));
  await tx.query(insertRemoval([developerId, no, counter, documentNo]));
  await tx.query(deleteOldRemovals([developerId, no, counter - KEPT_COUNTERS]));
}

const deleteRow = prepared(`delete from knowledge_documents where ${IN_BASE_BY_ID} and id = $3`);

export async function removeRow(tx: Transaction, { developerId, no }: BaseKey, id: string): Promise<void> {
  await tx.query(deleteRow([developerId, no, id]));
}

const updateRow = prepared(`update knowledge_documents set no = $4, content = $5, metadata = $6::json
  where ${IN_BASE_BY_ID} and id = $3`);

/** Gives a document that stays a new number, content and metadata. */
export async function rewriteRow(tx: Transaction, id: string, written: WrittenDocument): Promise<void> {
  const { base, no, content, metadata } = written;
  await tx.query(updateRow([base.developerId, base.no, id, no, content, metadata]));
}
