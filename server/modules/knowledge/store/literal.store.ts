import { prepared, type Queryable } from '../../../platform/db/index.ts';
import type { BaseKey } from './base.store.ts';

/** Characters of a document that are shown when it was found by its letters alone. */
const SHOWN_CHARACTERS = 500;

export interface LiteralMatch {
  no: number;
  id: string;
  title: string;
  metadata: Record<string, unknown>;
  text: string;
}

const select = prepared(`select no, id, title, metadata, left(content, ${SHOWN_CHARACTERS}) as text
  from knowledge_documents
  where developer_id = $1 and base_no = $2 and no > $3 and (content ilike $4 or title ilike $4)
  order by no limit $5`);

/** Documents that contain a text, whatever the case of its letters, in order of their numbers behind one. */
export async function documentsWith(
  db: Queryable,
  { developerId, no }: BaseKey,
  { text, after, limit }: { text: string; after: number; limit: number },
): Promise<LiteralMatch[]> {
  const pattern = `%${text.replace(/[\\%_]/gu, '\\$&')}%`;
  return (await db.query<LiteralMatch>(select([developerId, no, after, pattern, limit]))).rows;
}
