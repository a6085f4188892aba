import type { Queryable } from '../../../platform/db/index.ts';
import { matchesFilter } from '../../../platform/outbox/index.ts';
import type { BaseKey } from '../store/base.store.ts';
import { documentsWith } from '../store/literal.store.ts';
import type { FoundPassage, Question } from './found-passage.ts';

const DOCUMENTS_AT_ONCE = 100;

/** Documents that contain the text of the question, oldest first, each with how it begins; none for blanks alone. */
export async function findLiterally(db: Queryable, base: BaseKey, question: Question): Promise<FoundPassage[]> {
  const { limit, filter = null } = question;
  const text = question.text.trim();
  if (text === '') return [];
  const found: FoundPassage[] = [];
  for (let after = 0; ;) {
    const page = await documentsWith(db, base, { text, after, limit: DOCUMENTS_AT_ONCE });
    for (const document of page) {
      const { id, title, metadata } = document;
      if (!matchesFilter(filter, metadata)) continue;
      const passage = { text: document.text, source: title, metadata, documentId: id };
      found.push({ ...passage, score: 0, start: 0, end: document.text.length });
      if (found.length === limit) return found;
    }
    const last = page.at(-1);
    if (!last || page.length < DOCUMENTS_AT_ONCE) return found;
    after = last.no;
  }
}
