import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/index.ts';
import { createUploads, type Uploads } from './documents/upload-document.ts';
import { HotBases } from './memory/hot-bases.ts';
import { SnapshotFolder } from './memory/snapshot-folder.ts';
import type { FoundPassage, Question } from './query/found-passage.ts';
import { queryBase } from './query/query-base.ts';
import type { BaseKey, BaseName } from './store/base.store.ts';

export interface KnowledgeOptions {
  database: Database;
  log: Logger;
  /** Megabytes of bases in memory. */
  memoryMb: number;
  dataDir: string;
}

/** Knowledge bases: documents, and what finds passages in them. */
export interface Knowledge {
  database: Database;
  uploads: Uploads;
  /** To be told of bases that have got, changed or lost a document. */
  onWritten: (base: BaseKey) => void;
  /** The passages that answer a question best; throws NOT_FOUND when there is no such base. */
  query: (base: BaseName, question: Question) => Promise<FoundPassage[]>;
  /** Writes what waits, and waits for what is being done. */
  close: () => Promise<void>;
}

export function createKnowledge({ database, log, memoryMb, dataDir }: KnowledgeOptions): Knowledge {
  const hot = new HotBases({
    database,
    maxBytes: memoryMb * 1024 * 1024,
    space: undefined,
    snapshots: new SnapshotFolder(join(dataDir, 'knowledge')),
    onError: (error) => log.warn({ err: error }, 'a knowledge base could not be held in memory'),
  });
  const onWritten = (base: BaseKey): void => hot.refresh(base);
  const uploads = createUploads({ database, log, onStored: onWritten });
  return {
    database,
    uploads,
    onWritten,
    query: (base, question) => queryBase({ database, hot, vectorOf: () => Promise.resolve(undefined) }, base, question),
    close: async () => {
      await uploads.close();
      await hot.close();
    },
  };
}
