import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VectorArena } from './vector-arena.ts';
import { NO_VECTOR, VectorIndex } from './vector-index.ts';

test('scalar products are right for any length and number of vectors', () => {
  const arena = new VectorArena();
  const number = fc.float({ min: -1, max: 1, noNaN: true });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 0, max: 150 }),
      fc.infiniteStream(number),
      (dimensions, count, numbers) => {
        const vector = (): Float32Array => Float32Array.from(numbers.take(dimensions));
        const vectors = Array.from({ length: count }, vector);
        const query = vector();
        const index = new VectorIndex(arena, { model: 'm', dimensions });
        // Chunk 0 and every odd one has none.
        for (const [row, each] of vectors.entries()) index.add(2 * row + 2, each);
        const scores = index.score(query, 2 * count + 3);
        expect(scores[0]).toBe(NO_VECTOR);
        for (const [row, each] of vectors.entries()) {
          const product = each.reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0);
          expect(scores[2 * row + 2]).toBeCloseTo(product, 4);
          expect(scores[2 * row + 1]).toBe(NO_VECTOR);
        }
        const copied = Buffer.concat([...index.rows(count)]);
        expect(copied.equals(Buffer.concat(vectors.map((each) => Buffer.from(each.buffer))))).toBe(true);
        index.release();
      },
    ),
    { numRuns: 60 },
  );
});
