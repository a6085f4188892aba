import { pairsOf, sharedPairs, similarity } from './terms.ts';

/** How a node matches, the best first. */
const EXACT = 0;
const PREFIX = 1;
const WORD = 2;
const INSIDE = 3;
const SIMILAR = 4;
const PROPERTIES = 5;

/** Share of pairs in common (Dice) from which names are similar. */
export const LEAST_SIMILAR = 0.6;
/** What the similarity of some words counts beside that of a whole name. */
const WORDS_WEIGHT = 0.9;
/** Similar names are looked for only where the wanted text itself is found this rarely, and only the best are kept. */
export const ENOUGH_FOUND = 10;
export const MOST_SIMILAR = 100;
const MOST_TIE = 1023;
const NUMBERS = 2 ** 31;

/**
 * A match in one number that sorts: how the node matches, how well among those (10 bits, the lowest first), and the
 * number of the node (31 bits).
 */
export type Match = number;

function match(rank: number, tie: number, no: number): Match {
  return (rank * (MOST_TIE + 1) + Math.min(MOST_TIE, tie)) * NUMBERS + no;
}

export function nodeOf(found: Match): number {
  // Far faster than the remainder of numbers beyond 32 bits.
  return found - Math.floor(found / NUMBERS) * NUMBERS;
}

/** How a match matches, without its node. */
function kindOf(found: Match): number {
  return Math.floor(found / NUMBERS);
}

/** The matches of a list that can be among the best of so many; a few more, where they match alike. */
function bestOf(found: readonly Match[], most: number): readonly Match[] {
  if (found.length <= most) return found;
  const counts = new Uint32Array(kindOf(match(PROPERTIES, MOST_TIE, 0)) + 1);
  for (const one of found) counts[kindOf(one)] = (counts[kindOf(one)] ?? 0) + 1;
  let last = 0;
  for (let sum = counts[0] ?? 0; sum < most; sum += counts[last] ?? 0) last++;
  return found.filter((one) => kindOf(one) <= last);
}

/** The nodes of matches that are not in order; of more than `most` the best of them. */
export function bestFirst(found: readonly Match[], most = Infinity): number[] {
  const best = bestOf(found, most);
  const sorted = new Float64Array(best.length);
  for (let i = 0; i < best.length; i++) sorted[i] = best[i] ?? 0;
  const nos: number[] = [];
  for (const one of sorted.toSorted().subarray(0, Math.min(most, best.length))) nos.push(nodeOf(one));
  return nos;
}

const WORD_CHARACTER = /[\p{L}\p{N}]/u;
/** The same of the first 128 characters, which needs no pattern. */
const PLAIN = Array.from({ length: 128 }, (_, code) => WORD_CHARACTER.test(String.fromCharCode(code)));

function isWordCharacter(text: string, at: number): boolean {
  return PLAIN[text.charCodeAt(at)] ?? WORD_CHARACTER.test(text.charAt(at));
}

/** How a folded text stands in the folded name of a node, where it stands best; undefined when it does not. */
export function matchName(no: number, name: string, wanted: string): Match | undefined {
  let at = name.indexOf(wanted);
  if (at === -1) return undefined;
  if (at === 0) return match(name.length === wanted.length ? EXACT : PREFIX, name.length, no);
  for (; at !== -1; at = name.indexOf(wanted, at + 1)) {
    if (!isWordCharacter(name, at - 1)) return match(WORD, name.length, no);
  }
  return match(INSIDE, name.length, no);
}

/** A node whose name is similar by so much. */
export function matchShare(no: number, share: number): Match {
  return match(SIMILAR, Math.round((1 - share) * MOST_TIE), no);
}

/** A folded text to which names may be similar. */
export interface SimilarText {
  pairs: ReadonlySet<string>;
  words: number;
}

export function similarText(folded: string): SimilarText {
  return { pairs: pairsOf(folded), words: folded.split(' ').length };
}

/** The similarity of those words of a name that are most similar, as many as the text has. */
function similarWords(name: string, { pairs, words }: SimilarText): number {
  const all = name.split(' ');
  let best = 0;
  for (let start = 0; start + words <= all.length; start++) {
    best = Math.max(best, similarity(pairs, pairsOf(all.slice(start, start + words).join(' '))));
  }
  return best;
}

/** A folded name that is similar to a text, or has words that are; undefined when it is not. */
export function matchSimilar(no: number, name: string, wanted: SimilarText): Match | undefined {
  const pairs = pairsOf(name);
  const share = similarity(wanted.pairs, pairs);
  if (share >= LEAST_SIMILAR) return matchShare(no, share);
  // What a slip leaves of the text; a name with less has no such words either, or hardly.
  if (sharedPairs(wanted.pairs, pairs) < LEAST_SIMILAR * wanted.pairs.size) return undefined;
  const ofWords = similarWords(name, wanted);
  return ofWords < LEAST_SIMILAR ? undefined : matchShare(no, WORDS_WEIGHT * ofWords);
}

/** A node whose properties hold all terms. */
export function matchProperties(no: number): Match {
  return match(PROPERTIES, 0, no);
}
