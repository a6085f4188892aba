import type { BaseIndex } from '../memory/base-index.ts';
import { Scratch } from '../words/scratch.ts';
import { NO_VECTOR } from '../vectors/vector-index.ts';

/** What meaning weighs beside words; see docs/knowledge.md for how it was chosen. */
const MEANING_WEIGHT = 0.4;

/** Beyond those that were asked for, so many are looked at again: rounding may have put them behind. */
const SPARE = 32;

const JOINED = new Scratch();

export interface RankedChunk {
  chunk: number;
  score: number;
}

export interface RankedQuestion {
  terms: readonly string[];
  /** Its vector, of the model of the index. */
  vector: Float32Array | undefined;
  limit: number;
  /** By chunk, whether it may be found; all that are there, where it is undefined. */
  passing?: Uint8Array | undefined;
}

/** The better first; equal ones in the order of their places in the database. */
function compare(index: BaseIndex, one: RankedChunk, other: RankedChunk): number {
  if (one.score !== other.score) return other.score - one.score;
  const [left, right] = [index.placeOf(one.chunk), index.placeOf(other.chunk)];
  return left.documentNo - right.documentNo || left.position - right.position;
}

/** The best of the scores above zero, in order. */
function best(index: BaseIndex, scores: Float64Array, limit: number): RankedChunk[] {
  const kept: RankedChunk[] = [];
  let least = 0;
  for (let chunk = 0; chunk < scores.length; chunk++) {
    const score = scores[chunk] ?? 0;
    if (!(score > 0) || (kept.length === limit && score < least)) continue;
    const candidate = { chunk, score };
    let at = kept.length;
    while (at > 0 && compare(index, candidate, kept[at - 1] ?? candidate) < 0) at--;
    kept.splice(at, 0, candidate);
    if (kept.length > limit) kept.pop();
    if (kept.length === limit) least = kept.at(-1)?.score ?? 0;
  }
  return kept;
}

/** What passages have of the two, over those that are wanted. */
function extentOf(words: Float64Array, meanings: Float32Array, isWanted: Uint8Array) {
  let mostWords = 0;
  let mostMeaning = 0;
  let sum = 0;
  let count = 0;
  for (let chunk = 0; chunk < words.length; chunk++) {
    if (isWanted[chunk] !== 1) continue;
    mostWords = Math.max(mostWords, words[chunk] ?? 0);
    const meaning = meanings[chunk] ?? NO_VECTOR;
    if (meaning === NO_VECTOR) continue;
    mostMeaning = Math.max(mostMeaning, meaning);
    sum += Math.max(0, meaning);
    count++;
  }
  return { mostWords, mostMeaning, meanMeaning: count > 0 ? sum / count : 0 };
}

/**
 * Joins a score of words and one of meaning: each as a share of what the best passage has, by its weight. A passage that
 * has no vector (yet) is taken to mean as much as its words say, from the mean of the others up to the best: see
 * docs/knowledge.md for how it was chosen.
 */
function joining({ mostWords, mostMeaning, meanMeaning }: ReturnType<typeof extentOf>) {
  const wordShare = mostWords > 0 ? (1 - MEANING_WEIGHT) / mostWords : 0;
  const meaningShare = mostMeaning > 0 ? MEANING_WEIGHT / mostMeaning : 0;
  const presumed = meaningShare * meanMeaning;
  const presumedShare = mostWords > 0 ? (MEANING_WEIGHT - presumed) / mostWords : 0;
  return (words: number, meaning: number): number => {
    if (meaning !== NO_VECTOR) return wordShare * words + meaningShare * Math.max(0, meaning);
    return words > 0 ? presumed + (wordShare + presumedShare) * words : 0;
  };
}

/** Chunks by their words, and by their meaning where there are vectors. */
export function rankChunks(index: BaseIndex, question: RankedQuestion): RankedChunk[] {
  const { terms, vector, limit, passing } = question;
  const words = index.words.score(terms, index.living);
  const isWanted = passing ?? index.living.isAlive;
  if (!vector || index.vectors?.dimensions !== vector.length) {
    return best(index, passing ? words.map((score, chunk) => score * (isWanted[chunk] ?? 0)) : words, limit);
  }
  const { vectors } = index;
  const meanings = vectors.score(vector, words.length);
  const join = joining(extentOf(words, meanings, isWanted));
  const scores = JOINED.zeros(words.length);
  for (let chunk = 0; chunk < scores.length; chunk++) {
    if (isWanted[chunk] === 1) scores[chunk] = join(words[chunk] ?? 0, meanings[chunk] ?? NO_VECTOR);
  }
  // All are compared in 32-bit floats, and those that could be among the best once more.
  return best(index, scores, limit + SPARE)
    .map(({ chunk }) => ({ chunk, score: join(words[chunk] ?? 0, vectors.precise(vector, chunk)) }))
    .toSorted((one, other) => compare(index, one, other))
    .slice(0, limit);
}
