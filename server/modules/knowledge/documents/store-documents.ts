import type { Transaction } from '../../../platform/db/index.ts';
import { publishEvents } from '../../../platform/outbox/index.ts';
import type { Chunk } from '../chunking/chunk.ts';
import type { BaseKey, BaseName } from '../store/base.store.ts';
import {
  insertDocuments,
  lockBases,
  saveProgress,
  storedIds,
  type BaseProgress,
  type WrittenDocument,
} from '../store/write-document.store.ts';

/** A document that somebody uploads. */
export interface Upload {
  base: BaseName;
  id: string;
  title: string;
  content: string;
  /** JSON text. */
  metadata: string;
  chunks: readonly Chunk[];
  /** Set before the first try: it may have been stored although nobody heard of it. */
  isTried: boolean;
  /** Where it was stored; undefined when there is no such base. */
  storedIn?: BaseKey;
}

/** The event of a document that was added or modified. */
export function documentEvent({ developerId, id }: BaseName, action: 'upload' | 'update', title: string) {
  const data = { knowledgeId: id, action, documentTitle: title };
  return { developerId, type: 'knowledge.updated' as const, data };
}

function keyOf({ developerId, id }: BaseName): string {
  return `${developerId} ${id}`;
}

async function alreadyStored(
  tx: Transaction,
  bases: readonly BaseKey[],
  uploads: readonly Upload[],
): Promise<Set<string>> {
  const tried = uploads.filter(({ isTried }) => isTried).map(({ id }) => id);
  for (const upload of uploads) upload.isTried = true;
  return tried.length === 0 ? new Set() : storedIds(tx, bases, tried);
}

/** Stores documents of any bases with their chunks and events, and counts them. */
export async function storeDocuments(tx: Transaction, uploads: readonly Upload[]): Promise<void> {
  const names = new Map(uploads.map(({ base }) => [keyOf(base), base]));
  const bases = await lockBases(tx, [...names.values()]);
  const known = await alreadyStored(tx, bases, uploads);
  const progress = new Map<string, BaseProgress>();
  for (const base of bases) progress.set(keyOf(base), { base, counter: base.counter, documentsAdded: 0 });
  const written: WrittenDocument[] = [];
  for (const upload of uploads) {
    const place = progress.get(keyOf(upload.base));
    if (!place) continue;
    upload.storedIn = place.base;
    if (known.has(upload.id)) continue;
    place.counter++;
    place.documentsAdded++;
    written.push({ ...upload, base: place.base, no: place.counter });
  }
  if (written.length === 0) return;
  await insertDocuments(tx, written);
  await saveProgress(tx, [...progress.values()]);
  await publishEvents(
    tx,
    written.map(({ base, title }) => documentEvent(base, 'upload', title)),
  );
}
