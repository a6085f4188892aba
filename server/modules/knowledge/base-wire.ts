import type { KnowledgeBase, KnowledgeDocument } from '../../../contract/routes/knowledge.ts';
import type { BaseRow } from './store/base.store.ts';
import type { ListedDocument } from './store/document.store.ts';

/** A knowledge base as lists show it. */
export function wireListedBase(row: BaseRow): Omit<KnowledgeBase, 'developerId' | 'createdAt'> {
  const { id, name, description, type, documentCount, updatedAt } = row;
  return { _id: id, name, description, type, documentCount, updatedAt: updatedAt.toISOString() };
}

/** A knowledge base as the API shows it whole. */
export function wireBase(row: BaseRow): KnowledgeBase {
  const { _id, updatedAt, ...shown } = wireListedBase(row);
  return { _id, developerId: row.developerId, ...shown, createdAt: row.createdAt.toISOString(), updatedAt };
}

/** A document as lists show it. */
export function wireListedDocument(row: ListedDocument): Omit<KnowledgeDocument, 'content'> {
  const { id, title, metadata, createdAt } = row;
  return { _id: id, title, metadata, createdAt: createdAt.toISOString() };
}
