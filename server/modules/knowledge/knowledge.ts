import type { Logger } from 'pino';
import type { Database } from '../../platform/db/index.ts';
import { createUploads, type Uploads } from './documents/upload-document.ts';
import type { FoundPassage, Question } from './query/found-passage.ts';
import { queryBase } from './query/query-base.ts';
import type { BaseName } from './store/base.store.ts';

export interface KnowledgeOptions {
  database: Database;
  log: Logger;
}

/** Knowledge bases: documents, and what finds passages in them. */
export interface Knowledge {
  database: Database;
  uploads: Uploads;
  /** The passages that answer a question best; throws NOT_FOUND when there is no such base. */
  query: (base: BaseName, question: Question) => Promise<FoundPassage[]>;
  /** Writes what waits, and waits for what is being done. */
  close: () => Promise<void>;
}

export function createKnowledge({ database, log }: KnowledgeOptions): Knowledge {
  const uploads = createUploads({ database, log });
  return {
    database,
    uploads,
    query: (base, question) => queryBase(database, base, question),
    close: () => uploads.close(),
  };
}
