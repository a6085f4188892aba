import { pairsOf, similarity } from './terms.ts';

/** How a node matches, the best first. */
const EXACT = 0;
const PREFIX = 1;
const WORD = 2;
const INSIDE = 3;
const SIMILAR = 4;
const PROPERTIES = 5;

/** Share of pairs in common (Dice) from which names are similar. */
const SIMILAR_FROM = 0.6;
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
  return found % NUMBERS;
}

/** The best matches of a list that is not in order. */
export function bestFirst(found: readonly Match[]): number[] {
  return Array.from(Float64Array.from(found).toSorted(), nodeOf);
}

const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/** How a folded text stands in the folded name of a node, where it stands best; undefined when it does not. */
export function matchName(no: number, name: string, wanted: string): Match | undefined {
  let at = name.indexOf(wanted);
  if (at === -1) return undefined;
  if (at === 0) return match(name.length === wanted.length ? EXACT : PREFIX, name.length, no);
  for (; at !== -1; at = name.indexOf(wanted, at + 1)) {
    if (!WORD_CHARACTER.test(name.charAt(at - 1))) return match(WORD, name.length, no);
  }
  return match(INSIDE, name.length, no);
}

/** A folded name that is similar to the text of these pairs; undefined when it is not. */
export function matchSimilar(no: number, name: string, wanted: ReadonlySet<string>): Match | undefined {
  const share = similarity(wanted, pairsOf(name));
  return share < SIMILAR_FROM ? undefined : match(SIMILAR, Math.round((1 - share) * MOST_TIE), no);
}

/** A node whose properties hold all terms. */
export function matchProperties(no: number): Match {
  return match(PROPERTIES, 0, no);
}
