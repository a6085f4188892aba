import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ChangeFeed, Database } from '../../platform/db/index.ts';
import { createUploads, type Uploads } from './documents/upload-document.ts';
import type { Embedder } from './embedders/embedder.ts';
import { HotBases } from './memory/hot-bases.ts';
import { SnapshotFolder } from './memory/snapshot-folder.ts';
import { News } from './news.ts';
import type { FoundPassage, Question } from './query/found-passage.ts';
import { queryBase } from './query/query-base.ts';
import { QuestionVectors } from './query/question-vectors.ts';
import type { BaseKey, BaseName } from './store/base.store.ts';
import { EmbedLoop } from './vectors/embed-loop.ts';
import { VectorArena } from './vectors/vector-arena.ts';

export interface KnowledgeOptions {
  database: Database;
  changes: ChangeFeed;
  log: Logger;
  /** Megabytes of bases in memory. */
  memoryMb: number;
  dataDir: string;
  /** Whether this process is asked: then it loads bases that are written to before somebody asks for them. */
  answersQueries: boolean;
  /** Undefined: words alone find texts. Closed together with everything else. */
  embedder: Embedder | undefined;
}

/** Knowledge bases: documents, and what finds passages in them. */
export interface Knowledge {
  database: Database;
  uploads: Uploads;
  /** What gives passages their vectors; undefined when words alone find them. */
  embeddingModel: string | undefined;
  /** To be told of bases that have got, changed or lost a document. */
  onWritten: (base: BaseKey) => void;
  /** To be told of bases that are gone. */
  onDeleted: (base: BaseKey) => Promise<void>;
  /** The passages that answer a question best; throws NOT_FOUND when there is no such base. */
  query: (base: BaseName, question: Question) => Promise<FoundPassage[]>;
  /** Begins to give passages their vectors, in the background. */
  startWork: () => void;
  /** Writes what waits, and waits for what is being done. */
  close: () => Promise<void>;
}

function openHotBases(options: KnowledgeOptions): HotBases {
  const { database, log, memoryMb, dataDir, answersQueries, embedder } = options;
  return new HotBases({
    database,
    maxBytes: memoryMb * 1024 * 1024,
    space: embedder && { arena: new VectorArena(), model: embedder.model },
    snapshots: new SnapshotFolder(join(dataDir, 'knowledge')),
    isEager: answersQueries,
    onError: (error) => log.warn({ err: error }, 'a knowledge base could not be held in memory'),
    onWordsAlone: ({ id }) => {
      const where = { knowledgeBase: id };
      log.warn(where, 'the vectors of a base do not fit into HOT_INDEX_MB: words alone find its passages');
    },
    onMisfit: ({ id }, documentNo) => {
      const where = { knowledgeBase: id, documentNo, model: embedder?.model };
      log.warn(where, 'a document has vectors of another length than its base: does a name stand for two models?');
    },
  });
}

export function createKnowledge(options: KnowledgeOptions): Knowledge {
  const { database, changes, log, embedder } = options;
  const hot = openHotBases(options);
  const questions = embedder && new QuestionVectors(embedder, log);
  const vectorOf = (text: string) => questions?.of(text) ?? Promise.resolve(undefined);
  let loop: EmbedLoop | undefined;
  const onHeard = (base: BaseKey): void => {
    hot.refresh(base);
    loop?.add(base);
  };
  const news = new News({ database, changes, log, onHeard });
  changes.onLost(() => loop?.lookAgain());
  const onWritten = (base: BaseKey): void => {
    onHeard(base);
    news.tell(base);
  };
  const onEmbedded = (base: BaseKey): void => {
    hot.refresh(base);
    news.tell(base);
  };
  const uploads = createUploads({ database, log, onStored: onWritten });
  return {
    database,
    uploads,
    embeddingModel: embedder?.model,
    onWritten,
    onDeleted: async (base) => {
      news.tell(base);
      await hot.forget(base);
    },
    query: (base, question) => queryBase({ database, hot, vectorOf }, base, question),
    startWork: () => {
      if (embedder) loop ??= new EmbedLoop({ database, embedder, log, onStored: onEmbedded });
    },
    close: async () => {
      await uploads.close();
      await loop?.close();
      await embedder?.close();
      await news.close();
      await hot.close();
    },
  };
}
