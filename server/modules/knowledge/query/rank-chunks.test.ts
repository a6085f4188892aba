import { expect, test } from 'vitest';
import { BaseIndex } from '../memory/base-index.ts';
import { VectorArena } from '../vectors/vector-arena.ts';
import { rankChunks } from './rank-chunks.ts';

const SPACE = { arena: new VectorArena(), model: 'model' };
const QUESTION = { terms: ['return', 'goods'], vector: Float32Array.of(1, 0), limit: 10 };

interface Passage {
  terms: string[];
  /** How close it is to the question; undefined while it has no vector. */
  meaning?: number;
}

function indexOf(passages: readonly Passage[]): BaseIndex {
  const index = new BaseIndex();
  for (const [at, { terms, meaning }] of passages.entries()) {
    const place = { documentNo: at + 1, position: 0 };
    index.addChunk({ ...place, metadata: '{}', terms });
    if (meaning === undefined) continue;
    index.addVector(place, Float32Array.of(meaning, Math.sqrt(1 - meaning ** 2)), SPACE);
  }
  return index;
}

function order(passages: readonly Passage[], more = {}): number[] {
  return rankChunks(indexOf(passages), { ...QUESTION, ...more }).map(({ chunk }) => chunk);
}

test('a passage that has no vector yet is not held back by that', () => {
  const [best, half, none] = [
    ['return', 'goods'],
    ['goods', 'x'],
    ['x', 'y'],
  ];
  // As good by words as by anything.
  expect(order([{ terms: half, meaning: 0.9 }, { terms: best }, { terms: none, meaning: 0.5 }])).toEqual([1, 0, 2]);
  // Nothing speaks for one without words.
  expect(order([{ terms: half, meaning: 0.5 }, { terms: none }])).toEqual([0]);
  // Nor does it overtake what has all the words and means the same.
  expect(order([{ terms: half }, { terms: best, meaning: 0.9 }, { terms: none, meaning: 0.1 }])).toEqual([1, 0, 2]);
});

test('where none of the passages in question has a vector, words decide', () => {
  const passages = [{ terms: ['x'], meaning: 0.9 }, { terms: ['goods', 'x', 'y'] }, { terms: ['goods', 'return'] }];
  const passing = Uint8Array.of(0, 1, 1);
  const byWords = rankChunks(indexOf(passages), { ...QUESTION, vector: undefined, passing });
  expect(order(passages, { passing })).toEqual(byWords.map(({ chunk }) => chunk));
});
