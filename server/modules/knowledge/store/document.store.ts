import { prepared, type Queryable } from '../../../platform/db/index.ts';
import type { BaseKey } from './base.store.ts';
import { IN_BASE_BY_ID } from './find-one-index.ts';

export interface ListedDocument {
  id: string;
  title: string;
  metadata: Record<string, unknown>;
  createdAt: Date;
}

export interface DocumentRow extends ListedDocument {
  content: string;
}

const LISTED = 'id, title, metadata, created_at as "createdAt"';

const selectOne = prepared(`select ${LISTED}, content from knowledge_documents
  where ${IN_BASE_BY_ID} and id = $3`);

export async function findDocument(
  db: Queryable,
  { developerId, no }: BaseKey,
  documentId: string,
): Promise<DocumentRow | undefined> {
  return (await db.query<DocumentRow>(selectOne([developerId, no, documentId]))).rows[0];
}

const selectAfter = prepared(`select ${LISTED} from knowledge_documents
  where ${IN_BASE_BY_ID} and id > $3 order by id limit $4`);

/** Documents of a base without their content, oldest first, behind the one of an id. */
export async function documentsAfter(
  db: Queryable,
  { developerId, no }: BaseKey,
  { after = '', limit }: { after?: string | undefined; limit?: number | undefined },
): Promise<ListedDocument[]> {
  return (await db.query<ListedDocument>(selectAfter([developerId, no, after, limit ?? null]))).rows;
}
