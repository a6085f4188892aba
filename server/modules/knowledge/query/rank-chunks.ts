import type { BaseIndex } from '../memory/base-index.ts';
import { NO_VECTOR } from '../vectors/vector-index.ts';

/** What meaning weighs beside words; see docs/knowledge.md for how it was chosen. */
const MEANING_WEIGHT = 0.4;

export interface RankedChunk {
  chunk: number;
  score: number;
}

export interface RankedQuestion {
  terms: readonly string[];
  /** Its vector, of the model of the index. */
  vector: Float32Array | undefined;
  limit: number;
  filter?: Record<string, unknown> | undefined;
}

function greatest(values: Float32Array | Float64Array, isWanted: Uint8Array): number {
  let most = -Infinity;
  for (let at = 0; at < values.length; at++) {
    if (isWanted[at] === 1 && (values[at] ?? 0) > most) most = values[at] ?? 0;
  }
  return most;
}

/** The best of some scores above a floor, in order; equal ones in the order of their places in the database. */
function best(index: BaseIndex, scores: Float64Array, { limit, floor }: { limit: number; floor: number }) {
  const kept: RankedChunk[] = [];
  const isBefore = (a: RankedChunk, b: RankedChunk): boolean => {
    if (a.score !== b.score) return a.score > b.score;
    const [one, other] = [index.placeOf(a.chunk), index.placeOf(b.chunk)];
    return one.documentNo !== other.documentNo ? one.documentNo < other.documentNo : one.position < other.position;
  };
  let least = floor;
  for (let chunk = 0; chunk < scores.length; chunk++) {
    const score = scores[chunk] ?? 0;
    if (!(score > floor) || (kept.length === limit && score < least)) continue;
    const candidate = { chunk, score };
    let at = kept.length;
    while (at > 0 && isBefore(candidate, kept[at - 1] ?? candidate)) at--;
    kept.splice(at, 0, candidate);
    if (kept.length > limit) kept.pop();
    if (kept.length === limit) least = kept.at(-1)?.score ?? floor;
  }
  return kept;
}

/** Both scores of each chunk from 0 to 1 of what the best has, as a weighted sum. */
function joined(words: Float64Array, meanings: Float32Array, isWanted: Uint8Array): Float64Array {
  const mostWords = greatest(words, isWanted);
  const mostMeaning = greatest(meanings, isWanted);
  const wordShare = mostWords > 0 ? (1 - MEANING_WEIGHT) / mostWords : 0;
  const meaningShare = mostMeaning > 0 ? MEANING_WEIGHT / mostMeaning : 0;
  const scores = new Float64Array(words.length);
  for (let chunk = 0; chunk < scores.length; chunk++) {
    if (isWanted[chunk] !== 1) continue;
    const meaning = meanings[chunk] ?? NO_VECTOR;
    scores[chunk] = wordShare * (words[chunk] ?? 0) + (meaning > 0 ? meaningShare * meaning : 0);
  }
  return scores;
}

/** Chunks by their words, and by their meaning where there are vectors. */
export function rankChunks(index: BaseIndex, question: RankedQuestion): RankedChunk[] {
  const { terms, vector, limit, filter } = question;
  const scores = index.words.score(terms, index.living);
  const isWanted = filter ? index.passing(filter) : index.living.isAlive;
  const meanings = vector && index.vectors?.score(vector, scores.length);
  if (!meanings) {
    if (filter) for (let chunk = 0; chunk < scores.length; chunk++) if (isWanted[chunk] === 0) scores[chunk] = 0;
    return best(index, scores, { limit, floor: 0 });
  }
  return best(index, joined(scores, meanings, isWanted), { limit, floor: 0 });
}
