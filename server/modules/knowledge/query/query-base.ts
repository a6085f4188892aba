import type { Database } from '../../../platform/db/index.ts';
import { termsOf } from '../../../platform/text/index.ts';
import type { BaseIndex } from '../memory/base-index.ts';
import type { HotBases } from '../memory/hot-bases.ts';
import { noSuchBase } from '../no-such-base.ts';
import { findBase, type BaseName, type BaseRow } from '../store/base.store.ts';
import { passagesAt } from '../store/passages.store.ts';
import { findInDatabase } from './find-in-database.ts';
import { findLiterally } from './find-literally.ts';
import type { FoundPassage, Question } from './found-passage.ts';
import { rankChunks } from './rank-chunks.ts';

/** What queries are answered with. */
export interface QueryParts {
  database: Database;
  hot: HotBases;
  /** The vector of a question; undefined when it has none now. */
  vectorOf: (text: string) => Promise<Float32Array | undefined>;
}

/** Answers that a write overtook are made anew this often. */
const MOST_TRIES = 3;

async function passagesOf(
  { database, vectorOf }: QueryParts,
  { base, index }: { base: BaseRow; index: BaseIndex },
  question: Question,
): Promise<(FoundPassage | undefined)[]> {
  const { text, limit, filter } = question;
  const terms = termsOf(text);
  const vector = index.vectors ? await vectorOf(text) : undefined;
  // Last: nothing may be taken in between this and the ranking.
  const passing = filter && (await index.passing(filter));
  const ranked = rankChunks(index, { terms, vector, limit, passing });
  if (ranked.length === 0) return [];
  const rows = await passagesAt(
    database,
    base,
    ranked.map(({ chunk }) => index.placeOf(chunk)),
  );
  return rows.map((row, at) => {
    if (!row) return undefined;
    const { title, ...passage } = row;
    return { ...passage, source: title, score: ranked[at]?.score ?? 0 };
  });
}

/** What the database finds; undefined when the base comes into memory before. */
async function findMeanwhile(
  { database, hot }: QueryParts,
  base: BaseRow,
  question: Question,
): Promise<FoundPassage[] | undefined> {
  const found = findInDatabase(database, base, question);
  const loading = hot.loading(base);
  if (!loading) return found;
  // Its failure is of no interest when it is not needed any more.
  found.catch(() => undefined);
  return Promise.race([found, loading.then((index) => (index ? undefined : found))]);
}

async function findPassages(parts: QueryParts, name: BaseName, question: Question): Promise<FoundPassage[]> {
  let found: (FoundPassage | undefined)[] = [];
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const base = await findBase(parts.database, name);
    if (!base) throw noSuchBase(name.id);
    const index = await parts.hot.current(base);
    if (!index) {
      // Bases may come and go faster than they answer.
      if (tries === MOST_TRIES) return findInDatabase(parts.database, base, question);
      const answer = await findMeanwhile(parts, base, question);
      if (answer) return answer;
      continue;
    }
    found = await passagesOf(parts, { base, index }, question);
    // A passage that went while it was being read: what is there now may be another answer.
    if (found.every((passage) => passage !== undefined)) break;
  }
  return found.filter((passage) => passage !== undefined);
}

/** The passages that answer a question best; where words and meaning find none, documents that contain it literally. */
export async function queryBase(parts: QueryParts, name: BaseName, question: Question): Promise<FoundPassage[]> {
  const found = await findPassages(parts, name, question);
  if (found.length > 0) return found;
  const base = await findBase(parts.database, name);
  if (!base) throw noSuchBase(name.id);
  return findLiterally(parts.database, base, question);
}
