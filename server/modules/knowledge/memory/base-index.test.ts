import { expect, test } from 'vitest';
import { VectorArena } from '../vectors/vector-arena.ts';
import { BaseIndex } from './base-index.ts';

const SPACE = { arena: new VectorArena(), model: 'model' };

test('vectors of another length are not compared with the others, and told of', () => {
  const index = new BaseIndex();
  for (const documentNo of [1, 2]) index.addChunk({ documentNo, position: 0, metadata: '{}', terms: ['a'] });
  expect(index.addVector({ documentNo: 1, position: 0 }, Float32Array.of(1, 0), SPACE)).toBe(true);
  expect(index.addVector({ documentNo: 2, position: 0 }, Float32Array.of(1, 0, 0), SPACE)).toBe(false);
  expect(index.addVector({ documentNo: 3, position: 0 }, Float32Array.of(1, 0, 0), SPACE)).toBe(true);
  expect(index.vectors).toMatchObject({ count: 1, dimensions: 2 });
});
