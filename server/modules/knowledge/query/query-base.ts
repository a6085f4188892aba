import type { Database } from '../../../platform/db/index.ts';
import { noSuchBase } from '../no-such-base.ts';
import { findBase, type BaseName } from '../store/base.store.ts';
import { findLiterally } from './find-literally.ts';
import type { FoundPassage, Question } from './found-passage.ts';

/** The passages that answer a question best. */
export async function queryBase(database: Database, name: BaseName, question: Question): Promise<FoundPassage[]> {
  const base = await findBase(database, name);
  if (!base) throw noSuchBase(name.id);
  return findLiterally(database, base, question);
}
