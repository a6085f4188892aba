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

/** What a score of words and one of meaning count for: shares of what the best passage has, by their weights. */
function sharesOf(words: Float64Array, meanings: Float32Array, isWanted: Uint8Array) {
  let mostWords = 0;
  let mostMeaning = 0;
  for (let chunk = 0; chunk < words.length; chunk++) {
    if (isWanted[chunk] !== 1) continue;
    mostWords = Math.max(mostWords, words[chunk] ?? 0);
    mostMeaning = Math.max(mostMeaning, meanings[chunk] ?? NO_VECTOR);
  }
  return {
    wordShare: mostWords > 0 ? (1 - MEANING_WEIGHT) / mostWords : 0,
    meaningShare: mostMeaning > 0 ? MEANING_WEIGHT / mostMeaning : 0,
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
  const { wordShare, meaningShare } = sharesOf(words, meanings, isWanted);
  const scores = JOINED.zeros(words.length);
  for (let chunk = 0; chunk < scores.length; chunk++) {
    if (isWanted[chunk] !== 1) continue;
    scores[chunk] = wordShare * (words[chunk] ?? 0) + meaningShare * Math.max(0, meanings[chunk] ?? 0);
  }
  // All are compared in 32-bit floats, and those that could be among the best once more.
  return best(index, scores, limit + SPARE)
    .map(({ chunk }) => {
      const meaning = Math.max(0, vectors.precise(vector, chunk));
      return { chunk, score: wordShare * (words[chunk] ?? 0) + meaningShare * meaning };
    })
    .toSorted((one, other) => compare(index, one, other))
    .slice(0, limit);
}
