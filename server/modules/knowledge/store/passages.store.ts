import { prepared, type Queryable } from '../../../platform/db/index.ts';
import { numbersOf } from './array-literal.ts';
import type { BaseKey } from './base.store.ts';
import { documentOfNumber } from './find-one-index.ts';

export interface PassageRow {
  documentId: string;
  title: string;
  metadata: Record<string, unknown>;
  text: string;
  start: number;
  end: number;
}

const selectPassages = prepared(`select d.id as "documentId", d.title, d.metadata, c.text, c.start_offset as start,
    c.end_offset as "end"
  from unnest($3::bigint[], $4::int[]) with ordinality w (document_no, position, place)
  left join lateral (
    select * from knowledge_chunks
    where developer_id = $1 and base_no = $2 and document_no = w.document_no and position = w.position limit 1
  ) c on true
  left join ${documentOfNumber('w.document_no')}
  order by w.place`);

/** What is shown of some chunks, in their order; undefined where one is gone by now. */
export async function passagesAt(
  db: Queryable,
  { developerId, no }: BaseKey,
  places: readonly { documentNo: number; position: number }[],
): Promise<(PassageRow | undefined)[]> {
  const documents = numbersOf(places.map(({ documentNo }) => documentNo));
  const positions = numbersOf(places.map(({ position }) => position));
  const { rows } = await db.query<PassageRow | { [Column in keyof PassageRow]: null }>(
    selectPassages([developerId, no, documents, positions]),
  );
  return rows.map((row) => (row.documentId === null || row.text === null ? undefined : row));
}

export interface CandidateRow extends PassageRow {
  documentNo: number;
  position: number;
  heading: string;
}

const selectCandidates = prepared(`select c.document_no as "documentNo", c.position, c.heading, d.id as "documentId",
    d.title, d.metadata, c.text, c.start_offset as start, c.end_offset as "end"
  from knowledge_chunks c
  join ${documentOfNumber('c.document_no')}
  cross join lateral (
    -- Once for each chunk: a planner would put it where it is made again for each part.
    select lower(concat_ws(' ', d.title, c.heading, c.text)) as words offset 0
  ) l
  cross join lateral (select count(*) as n from unnest($3::text[]) p where strpos(l.words, p) > 0) m
  where c.developer_id = $1 and c.base_no = $2 and m.n > 0
  order by m.n desc, c.document_no, c.position limit $4`);

/** Chunks that hold some of the parts of words, in lower case, those with the most first. Reads through the whole base. */
export async function candidatesWith(
  db: Queryable,
  { developerId, no }: BaseKey,
  { parts, limit }: { parts: readonly string[]; limit: number },
): Promise<CandidateRow[]> {
  return (await db.query<CandidateRow>(selectCandidates([developerId, no, [...parts], limit]))).rows;
}
