import type { Queryable } from '../../../platform/db/index.ts';
import { matchesFilter } from '../../../platform/outbox/index.ts';
import { termsOf } from '../../../platform/text/index.ts';
import { Pace } from '../next-turn.ts';
import type { BaseKey } from '../store/base.store.ts';
import { candidatesWith } from '../store/passages.store.ts';
import { WordIndex } from '../words/word-index.ts';
import type { FoundPassage, Question } from './found-passage.ts';

/** Chunks that are looked at more closely. */
const MOST_CANDIDATES = 500;
/** Different terms that are looked for, the longest first. */
const MOST_TERMS = 12;

/** What all words of that stem hold: `happi` is the stem of `happy` too. */
function partOf(term: string): string {
  return term.length > 1 ? term.replace(/i$/u, '') : term;
}

/** The passages that hold most of the words, found without the base in memory: slower, and by an estimate of BM25. */
export async function findInDatabase(db: Queryable, base: BaseKey, question: Question): Promise<FoundPassage[]> {
  const { text, limit, filter = null } = question;
  const terms = termsOf(text);
  const wanted = [...new Set(terms)].toSorted((a, b) => b.length - a.length).slice(0, MOST_TERMS);
  if (wanted.length === 0) return [];
  const rows = await candidatesWith(db, base, { parts: wanted.map(partOf), limit: MOST_CANDIDATES });
  const words = new WordIndex();
  const pace = new Pace();
  for (const row of rows) {
    words.add(termsOf(`${row.title}\n${row.heading}\n${row.text}`));
    if (pace.isOver) await pace.rest();
  }
  const isAlive = new Uint8Array(rows.length).fill(1);
  const scores = words.score(terms, { isAlive, count: rows.length });
  return rows
    .map(({ text: passage, title, metadata, documentId, start, end }, at) => {
      return { text: passage, source: title, metadata, documentId, start, end, score: scores[at] ?? 0 };
    })
    .filter(({ score, metadata }) => score > 0 && matchesFilter(filter, metadata))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit);
}
