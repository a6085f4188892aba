import type { Logger } from 'pino';
import type { BaseType } from '../../../../contract/routes/knowledge.ts';
import { createGroupWriter, type Database } from '../../../platform/db/index.ts';
import { createId } from '../../../platform/ids/index.ts';
import { chunkInSlices } from '../chunking/chunk-in-slices.ts';
import { noSuchBase } from '../no-such-base.ts';
import { findBase, type BaseKey, type BaseName } from '../store/base.store.ts';
import { storeDocuments, type Upload } from './store-documents.ts';

/** Characters from which a document has a transaction of its own. */
const LARGE = 100_000;

/** A document as it comes. */
interface NewDocument {
  content: string;
  title?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

export interface Uploads {
  upload: (base: BaseName, document: NewDocument) => Promise<{ id: string; title: string }>;
  /** Stores what waits, then refuses what comes. */
  close: () => Promise<void>;
}

async function typeOf(database: Database, base: BaseName): Promise<BaseType> {
  const row = await findBase(database, base);
  if (!row) throw noSuchBase(base.id);
  return row.type;
}

export interface UploadsOptions {
  database: Database;
  log: Logger;
  /** Told of bases that have got documents. */
  onStored: (base: BaseKey) => void;
}

/** Small documents that arrive at the same time share a transaction, and the lock of their base. */
export function createUploads({ database, log, onStored }: UploadsOptions): Uploads {
  const store = (uploads: Upload[]): Promise<void> => database.transaction((tx) => storeDocuments(tx, uploads));
  const writer = createGroupWriter<Upload>({ write: store, maxItems: 64, maxDelayMs: 0, maxQueued: 10_000, log });
  return {
    upload: async (base, { content, title = 'Untitled', metadata = {} }) => {
      const type = await typeOf(database, base);
      const upload: Upload = {
        base,
        id: createId('doc'),
        title,
        content,
        metadata: JSON.stringify(metadata),
        chunks: await chunkInSlices(content, type),
        isTried: false,
      };
      const isLarge = content.length + upload.metadata.length > LARGE;
      await (isLarge ? store([upload]) : writer.submit(upload));
      if (!upload.storedIn) throw noSuchBase(base.id);
      onStored(upload.storedIn);
      return { id: upload.id, title };
    },
    close: () => writer.close(),
  };
}
