import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WordIndex, type Bm25 } from './word-index.ts';

/** BM25 as in the textbook, over lists of terms; undefined where a chunk is gone. */
function textbook(chunks: readonly (string[] | undefined)[], query: readonly string[], { k1, b }: Bm25): number[] {
  const alive = chunks.filter((chunk) => chunk !== undefined);
  const average = alive.reduce((sum, { length }) => sum + length, 0) / Math.max(alive.length, 1);
  return chunks.map((chunk) => {
    if (!chunk) return 0;
    return query.reduce((score, term) => {
      const count = chunk.filter((each) => each === term).length;
      const holders = alive.filter((each) => each.includes(term)).length;
      const idf = Math.log(1 + (alive.length - holders + 0.5) / (holders + 0.5));
      return score + (idf * count) / (count + k1 * (1 - b + (b * chunk.length) / Math.max(average, 1e-9)) || 1);
    }, 0);
  });
}

const TERMS = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', '中文', 'x'), { maxLength: 12 });
const BM25 = { k1: 1.5, b: 0.75 };

test('scores are those of the textbook, whatever was merged, removed or read back', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ terms: TERMS, isGone: fc.boolean(), merges: fc.boolean() }), { maxLength: 20 }),
      TERMS,
      async (chunks, query) => {
        const index = new WordIndex();
        for (const { terms, merges } of chunks) {
          index.add(terms);
          if (merges) await index.merge();
        }
        for (const [chunk, { isGone }] of chunks.entries()) if (isGone) index.drop(chunk);
        const isAlive = Uint8Array.from(chunks, ({ isGone }) => (isGone ? 0 : 1));
        const living = { isAlive, count: isAlive.filter((one) => one === 1).length };
        const wanted = textbook(
          chunks.map(({ terms, isGone }) => (isGone ? undefined : terms)),
          query,
          BM25,
        );
        const scores = [...index.score(query, living, BM25)];
        await index.merge();
        const parts = index.parts();
        const readBack = new WordIndex(parts);
        readBack.restore(isAlive);
        for (const found of [scores, [...index.score(query, living, BM25)], [...readBack.score(query, living, BM25)]]) {
          expect(found).toHaveLength(wanted.length);
          for (const [chunk, score] of wanted.entries()) expect(found[chunk]).toBeCloseTo(score, 10);
        }
      },
    ),
    { numRuns: 300 },
  );
});
