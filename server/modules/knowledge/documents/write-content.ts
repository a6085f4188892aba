import type { Database, Transaction } from '../../../platform/db/index.ts';
import { createId } from '../../../platform/ids/index.ts';
import { publishEvents } from '../../../platform/outbox/index.ts';
import { chunkInSlices } from '../chunking/chunk-in-slices.ts';
import { noSuchBase } from '../no-such-base.ts';
import { findBase, lockBase, type BaseName, type BaseRow } from '../store/base.store.ts';
import { findTitled, removeParts, rewriteRow } from '../store/replace-document.store.ts';
import { insertChunks, insertDocuments, saveProgress, type WrittenDocument } from '../store/write-document.store.ts';
import { documentEvent } from './store-documents.ts';

const DEFAULT_TITLE = 'Untitled';

/** Replaces the newest document of the title, or adds one; gives how many were added. */
async function replaceOrAdd(
  tx: Transaction,
  { base, hasTitle, document }: { base: BaseRow; hasTitle: boolean; document: WrittenDocument },
): Promise<number> {
  const old = hasTitle ? await findTitled(tx, base, document.title) : undefined;
  if (!old) {
    await insertDocuments(tx, [document]);
    return 1;
  }
  await removeParts(tx, base, { counter: document.no, documentNo: old.no });
  await rewriteRow(tx, old.id, document);
  await insertChunks(tx, [document]);
  return 0;
}

export interface WrittenContent {
  content: string;
  metadata?: Record<string, unknown> | undefined;
}

/** Writes a document in place of the newest one whose title is `metadata.title`; adds one where there is none. */
export async function writeContent(
  database: Database,
  name: BaseName,
  { content, metadata = {} }: WrittenContent,
): Promise<BaseRow> {
  const known = await findBase(database, name);
  if (!known) throw noSuchBase(name.id);
  const chunks = await chunkInSlices(content, known.type);
  const given = metadata['title'];
  const title = typeof given === 'string' ? given : DEFAULT_TITLE;
  return database.transaction(async (tx) => {
    const base = await lockBase(tx, name);
    if (!base) throw noSuchBase(name.id);
    const no = base.counter + 1;
    const document = { base, no, id: createId('doc'), title, content, metadata: JSON.stringify(metadata), chunks };
    const documentsAdded = await replaceOrAdd(tx, { base, hasTitle: typeof given === 'string', document });
    await saveProgress(tx, [{ base, counter: no, documentsAdded }]);
    await publishEvents(tx, [documentEvent(base, 'update', title)]);
    return base;
  });
}
