import { prepared, type Transaction } from '../../../platform/db/index.ts';
import type { Chunk } from '../chunking/chunk.ts';
import { nextTurn } from '../next-turn.ts';
import { arrayOf, numbersOf } from './array-literal.ts';
import type { BaseKey } from './base.store.ts';

/** Characters of chunks that one statement inserts: some milliseconds to write it. */
const CHARACTERS_AT_ONCE = 1_000_000;

/** A document on its way into the database; its number is that of the write. */
export interface WrittenDocument {
  base: BaseKey;
  no: number;
  id: string;
  title: string;
  content: string;
  /** JSON text. */
  metadata: string;
  chunks: readonly Chunk[];
}

/** What writes did to a base. */
export interface BaseProgress {
  base: BaseKey;
  counter: number;
  documentsAdded: number;
}

const insertRows = prepared(`insert into knowledge_documents
    (developer_id, base_no, no, id, title, content, metadata, created_at)
  select developer_id, base_no, no, id, title, content, metadata::json, now()
  from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
    as d (developer_id, base_no, no, id, title, content, metadata)`);

export async function insertDocuments(tx: Transaction, documents: readonly WrittenDocument[]): Promise<void> {
  await tx.query(
    insertRows([
      arrayOf(documents.map(({ base }) => base.developerId)),
      numbersOf(documents.map(({ base }) => base.no)),
      numbersOf(documents.map(({ no }) => no)),
      arrayOf(documents.map(({ id }) => id)),
      arrayOf(documents.map(({ title }) => title)),
      arrayOf(documents.map(({ content }) => content)),
      arrayOf(documents.map(({ metadata }) => metadata)),
    ]),
  );
  await insertChunks(tx, documents);
}

const insertChunkRows = prepared(`insert into knowledge_chunks
    (developer_id, base_no, document_no, position, start_offset, end_offset, heading, text)
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::int[], $5::int[], $6::int[], $7::text[], $8::text[])`);

class ChunkColumns {
  readonly developerIds: string[] = [];
  readonly bases: number[] = [];
  readonly documents: number[] = [];
  readonly positions: number[] = [];
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly headings: string[] = [];
  readonly texts: string[] = [];
  length = 0;

  add({ base, no, content }: WrittenDocument, position: number, { start, end, heading }: Chunk): void {
    this.developerIds.push(base.developerId);
    this.bases.push(base.no);
    this.documents.push(no);
    this.positions.push(position);
    this.starts.push(start);
    this.ends.push(end);
    this.headings.push(heading);
    this.texts.push(content.slice(start, end));
    this.length += end - start + heading.length;
  }

  async insert(tx: Transaction): Promise<void> {
    const { developerIds, bases, documents, positions, starts, ends, headings, texts } = this;
    if (bases.length === 0) return;
    const numbers = [bases, documents, positions, starts, ends].map(numbersOf);
    await tx.query(insertChunkRows([arrayOf(developerIds), ...numbers, arrayOf(headings), arrayOf(texts)]));
  }
}

/** Writes the chunks of documents, a piece at a time while others are served. */
export async function insertChunks(tx: Transaction, documents: readonly WrittenDocument[]): Promise<void> {
  let columns = new ChunkColumns();
  for (const document of documents) {
    for (const [position, chunk] of document.chunks.entries()) {
      if (columns.length > CHARACTERS_AT_ONCE) {
        await columns.insert(tx);
        await nextTurn();
        columns = new ChunkColumns();
      }
      columns.add(document, position, chunk);
    }
  }
  await columns.insert(tx);
}

const updateBases = prepared(`update knowledge_bases b
  set counter = u.counter, document_count = b.document_count + u.added, updated_at = now()
  from unnest($1::text[], $2::text[], $3::bigint[], $4::int[]) as u (developer_id, id, counter, added)
  where b.developer_id = u.developer_id and b.id = u.id`);

/** Stores the numbers of locked bases. */
export async function saveProgress(tx: Transaction, bases: readonly BaseProgress[]): Promise<void> {
  await tx.query(
    updateBases([
      arrayOf(bases.map(({ base }) => base.developerId)),
      arrayOf(bases.map(({ base }) => base.id)),
      numbersOf(bases.map(({ counter }) => counter)),
      numbersOf(bases.map(({ documentsAdded }) => documentsAdded)),
    ]),
  );
}

const lockRows = prepared(`select b.developer_id as "developerId", b.id, b.no, b.counter from knowledge_bases b
  join unnest($1::text[], $2::text[]) as w (developer_id, id) on b.developer_id = w.developer_id and b.id = w.id
  order by b.developer_id, b.id for update of b`);

/** Locks bases in one order, so that no two transactions wait for each other; absent ones are left out. */
export async function lockBases(
  tx: Transaction,
  names: readonly { developerId: string; id: string }[],
): Promise<(BaseKey & { counter: number })[]> {
  const values = [arrayOf(names.map(({ developerId }) => developerId)), arrayOf(names.map(({ id }) => id))];
  return (await tx.query<BaseKey & { counter: number }>(lockRows(values))).rows;
}

const selectStored = prepared(`select id from knowledge_documents
  where developer_id || base_no::text = any ($1::text[]) and id = any ($2::text[])`);

/** Which of the ids are stored already. */
export async function storedIds(
  tx: Transaction,
  bases: readonly BaseKey[],
  ids: readonly string[],
): Promise<Set<string>> {
  const places = arrayOf(bases.map(({ developerId, no }) => `${developerId}${no}`));
  const { rows } = await tx.query<{ id: string }>(selectStored([places, arrayOf(ids)]));
  return new Set(rows.map(({ id }) => id));
}
