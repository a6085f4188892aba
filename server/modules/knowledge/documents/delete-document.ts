import type { Database } from '../../../platform/db/index.ts';
import { noSuchBase, noSuchDocument } from '../no-such-base.ts';
import { lockBase, type BaseKey, type BaseName } from '../store/base.store.ts';
import { findDocumentKey, removeParts, removeRow } from '../store/replace-document.store.ts';
import { saveProgress } from '../store/write-document.store.ts';

/** Deletes a document with everything that was made of it. */
export function deleteDocument(database: Database, name: BaseName, documentId: string): Promise<BaseKey> {
  return database.transaction(async (tx) => {
    const base = await lockBase(tx, name);
    if (!base) throw noSuchBase(name.id);
    const document = await findDocumentKey(tx, base, documentId);
    if (!document) throw noSuchDocument(documentId);
    const counter = base.counter + 1;
    await removeParts(tx, base, { counter, documentNo: document.no });
    await removeRow(tx, base, document.id);
    await saveProgress(tx, [{ base, counter, documentsAdded: -1 }]);
    return base;
  });
}
