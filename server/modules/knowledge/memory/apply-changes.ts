import type { Database, Transaction } from '../../../platform/db/index.ts';
import { termsOf } from '../../../platform/text/index.ts';
import { findBase, type BaseKey, type BaseRow } from '../store/base.store.ts';
import { chunksAfter, removalsAfter, vectorsAfter, type ChunkRow } from '../store/changes.store.ts';
import type { VectorArena } from '../vectors/vector-arena.ts';
import { Pace } from '../next-turn.ts';
import type { BaseIndex, IndexedChunk } from './base-index.ts';

/** Chunks, and vectors, that are read at once. */
const CHUNKS_AT_ONCE = 100;
const VECTORS_AT_ONCE = 256;
/** Up to so many, changes become visible all at once. */
const MOST_AT_ONCE = 500;
const MOST_POSITION = 2 ** 31 - 1;

/** Where vectors go, and of which model; undefined when there is no embedder. */
export interface VectorSpace {
  arena: VectorArena;
  model: string;
}

/** A base takes more memory than all bases may. */
export class TooLargeError extends Error {}

/** What is brought in step, and what it may take. */
interface Followed {
  index: BaseIndex;
  space: VectorSpace | undefined;
  maxBytes: number;
  /** Told of each document with vectors of another length than those that came first. */
  onMisfit: (documentNo: number) => void;
  /** Told when its vectors do not fit, and are passed over from now on. */
  onWordsAlone: () => void;
}

function demandRoom({ index, maxBytes }: Followed): void {
  if (index.bytes > maxBytes) throw new TooLargeError('a knowledge base does not fit into HOT_INDEX_MB');
}

/** Vectors take most of the room, and words answer without them. */
function demandRoomForVectors({ index, maxBytes, onWordsAlone }: Followed): void {
  if (!index.vectors || index.bytesWithAllVectors <= maxBytes) return;
  index.release();
  onWordsAlone();
}

function indexed({ documentNo, position, title, heading, text, metadata }: ChunkRow): IndexedChunk {
  return { documentNo, position, metadata, terms: termsOf(`${title}\n${heading}\n${text}`) };
}

/** The chunks that were written after a counter, some at a time. */
async function* newChunks(tx: Transaction, base: BaseKey, counter: number): AsyncGenerator<IndexedChunk[]> {
  const pace = new Pace();
  let last = { documentNo: counter, position: MOST_POSITION };
  for (;;) {
    const rows = await chunksAfter(tx, base, { ...last, limit: CHUNKS_AT_ONCE });
    const chunks: IndexedChunk[] = [];
    for (const row of rows) {
      chunks.push(indexed(row));
      if (pace.isOver) await pace.rest();
    }
    yield chunks;
    const end = rows.at(-1);
    if (!end || rows.length < CHUNKS_AT_ONCE) return;
    last = end;
  }
}

async function applyDocuments(tx: Transaction, base: BaseRow, followed: Followed): Promise<void> {
  const { index } = followed;
  const removed = index.counter === 0 ? [] : await removalsAfter(tx, base, index.counter);
  const pace = new Pace();
  let waiting: IndexedChunk[] = [];
  let isLarge = false;
  for await (const chunks of newChunks(tx, base, index.counter)) {
    waiting.push(...chunks);
    isLarge ||= waiting.length > MOST_AT_ONCE;
    if (!isLarge) continue;
    for (const chunk of waiting) {
      index.addChunk(chunk);
      if (pace.isOver) await pace.rest();
    }
    waiting = [];
    demandRoom(followed);
    if (index.words.needsMerge) await index.words.merge();
  }
  for (const documentNo of removed) index.removeDocument(documentNo);
  for (const chunk of waiting) index.addChunk(chunk);
  index.counter = base.counter;
  if (index.words.needsMerge) await index.words.merge();
}

/** 32-bit floats as the database has them: little endian, at any place of a buffer. */
function floatsOf(bytes: Buffer): Float32Array {
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

async function applyVectors(
  tx: Transaction,
  base: BaseRow,
  { space, followed }: { space: VectorSpace; followed: Followed },
): Promise<void> {
  const { model } = space;
  const { index } = followed;
  const misfits = new Set<number>();
  for (;;) {
    const rows = await vectorsAfter(tx, base, { model, batch: index.vectorCounter, limit: VECTORS_AT_ONCE });
    for (const row of rows) if (!index.addVector(row, floatsOf(row.vector), space)) misfits.add(row.documentNo);
    const last = rows.at(-1);
    index.vectorCounter = last?.batch ?? index.vectorCounter;
    demandRoomForVectors(followed);
    if (rows.length < VECTORS_AT_ONCE || index.isReleased) break;
  }
  for (const documentNo of misfits) followed.onMisfit(documentNo);
}

/**
 * Brings an index in step with the database, as of one moment. False when the base is gone. When it throws, the index may
 * have taken in a part, and is of no more use.
 */
export function applyChanges(database: Database, base: BaseKey, followed: Followed): Promise<boolean> {
  const { index, space } = followed;
  return database.transaction(async (tx) => {
    await tx.query({ text: 'set transaction isolation level repeatable read, read only' });
    const row = await findBase(tx, base);
    if (row?.no !== base.no) return false;
    if (row.counter > index.counter) await applyDocuments(tx, row, followed);
    const lacksVectors = row.vectorCounter > index.vectorCounter && !index.isReleased;
    if (space && lacksVectors) await applyVectors(tx, row, { space, followed });
    index.vectorCounter = row.vectorCounter;
    demandRoomForVectors(followed);
    return true;
  });
}
