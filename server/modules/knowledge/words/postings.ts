import { Pace } from '../next-turn.ts';
import { Int32Column } from './columns.ts';
import { Scratch } from './scratch.ts';

/** Postings that may wait to be merged: a query walks through all of them. */
const MOST_WAITING = 2 ** 16;
/** Or this share of those that are merged. */
const WAITING_SHARE = 0.1;
/** Postings that are moved between two looks at the clock. */
const MOVED_AT_ONCE = 2 ** 14;

/** Postings in order of their terms: those of term `t` are from `starts[t]` to `starts[t + 1]`. */
export interface MergedPostings {
  starts: Int32Array;
  chunks: Int32Array;
  counts: Uint16Array;
}

/** A posting that waits, of the term at a place in the list of terms that are wanted. */
interface WaitingPosting {
  place: number;
  chunk: number;
  count: number;
}

/** Postings of the terms of one question. */
interface SelectedPostings {
  chunks: Int32Array;
  counts: Uint16Array;
  /** By term, where its postings are in both. */
  ranges: readonly { start: number; end: number }[];
  waiting: readonly WaitingPosting[];
}

/** What each chunk adds to its score for a term that it holds `n` times: `weight * n / (n + damping)`. */
interface Scoring {
  /** By place in the list of terms. */
  weights: Float64Array;
  /** By chunk; infinite for those that are gone. */
  dampings: Float64Array;
}

/** How many chunks that are alive hold each of the terms; of all alive, unless told which. */
export function countHolders({ chunks, ranges, waiting }: SelectedPostings, isAlive?: Uint8Array): Float64Array {
  const held = Float64Array.from(ranges, ({ start, end }) => {
    if (!isAlive) return end - start;
    let count = 0;
    for (let at = start; at < end; at++) count += isAlive[chunks[at] ?? 0] ?? 0;
    return count;
  });
  for (const { place, chunk } of waiting) held[place] = (held[place] ?? 0) + (isAlive ? (isAlive[chunk] ?? 0) : 1);
  return held;
}

/** The scores of all chunks, added up in the order of the terms; valid until the next call. */
export function scorePostings(selected: SelectedPostings, { weights, dampings }: Scoring): Float64Array {
  const { chunks, counts, ranges, waiting } = selected;
  const scores = SCORES.zeros(dampings.length);
  for (const [place, { start, end }] of ranges.entries()) {
    const weight = weights[place] ?? 0;
    for (let at = start; at < end; at++) {
      const chunk = chunks[at] ?? 0;
      const count = counts[at] ?? 0;
      scores[chunk] = (scores[chunk] ?? 0) + (weight * count) / (count + (dampings[chunk] ?? 0));
    }
  }
  for (const { place, chunk, count } of waiting) {
    scores[chunk] = (scores[chunk] ?? 0) + ((weights[place] ?? 0) * count) / (count + (dampings[chunk] ?? 0));
  }
  return scores;
}

const NOTHING = new Int32Array(0);
const SCORES = new Scratch();

/** Postings in the order in which they came. */
class Waiting {
  readonly terms = new Int32Column();
  readonly chunks = new Int32Column();
  readonly counts = new Int32Column();
}

/** Which chunks hold a term, and how often: 6 bytes for each, of a chunk and a term. */
export class Postings {
  #merged: MergedPostings;
  /** Being merged now. */
  #leaving: Waiting | undefined;
  #waiting = new Waiting();

  constructor(merged?: MergedPostings) {
    this.#merged = merged ?? { starts: new Int32Array(1), chunks: new Int32Array(0), counts: new Uint16Array(0) };
  }

  get bytes(): number {
    const waiting = this.#waiting.terms.values.length + (this.#leaving?.terms.values.length ?? 0);
    return 4 * this.#merged.starts.length + 6 * this.#merged.chunks.length + 12 * waiting;
  }

  /** All postings, once none is waiting. */
  get merged(): MergedPostings {
    return this.#merged;
  }

  get isMerged(): boolean {
    return this.#leaving === undefined && this.#waiting.terms.length === 0;
  }

  get needsMerge(): boolean {
    return this.#waiting.terms.length > Math.max(MOST_WAITING, WAITING_SHARE * this.#merged.chunks.length);
  }

  add(term: number, chunk: number): number {
    this.#waiting.terms.push(term);
    this.#waiting.chunks.push(chunk);
    this.#waiting.counts.push(1);
    return this.#waiting.terms.length - 1;
  }

  /** Counts a term once more that was added for the newest chunk. */
  countAgain(place: number): void {
    this.#waiting.counts.values[place] = (this.#waiting.counts.values[place] ?? 0) + 1;
  }

  /** The postings of some terms, for one question. */
  select(terms: readonly number[]): SelectedPostings {
    const { starts, chunks, counts } = this.#merged;
    const ranges = terms.map((term) => {
      const end = starts[term + 1] ?? 0;
      return { start: end === 0 ? 0 : (starts[term] ?? 0), end };
    });
    return { chunks, counts, ranges, waiting: this.#selectWaiting(terms) };
  }

  #selectWaiting(terms: readonly number[]): WaitingPosting[] {
    const placeOf = new Map(terms.map((term, place) => [term, place]));
    const most = Math.max(-1, ...terms);
    const isWanted = new Uint8Array(most + 1);
    for (const term of terms) isWanted[term] = 1;
    const selected: WaitingPosting[] = [];
    for (const waiting of [this.#leaving, this.#waiting]) {
      const all = waiting?.terms.used ?? NOTHING;
      for (let at = 0; at < all.length; at++) {
        const term = all[at] ?? 0;
        if (term > most || isWanted[term] === 0) continue;
        const chunk = waiting?.chunks.values[at] ?? 0;
        selected.push({ place: placeOf.get(term) ?? 0, chunk, count: waiting?.counts.values[at] ?? 0 });
      }
    }
    return selected;
  }

  /** Puts what waits in order, a part at a time while queries are answered. One at a time. */
  async merge(termCount: number): Promise<void> {
    const leaving = this.#waiting;
    this.#leaving = leaving;
    this.#waiting = new Waiting();
    this.#merged = await merge(this.#merged, leaving, termCount);
    this.#leaving = undefined;
  }
}

/** How many postings each term has, added up. */
function startsOf(old: Int32Array, added: Int32Array, termCount: number): Int32Array {
  const starts = new Int32Array(termCount + 1);
  for (let term = 0; term + 1 < old.length; term++) starts[term + 1] = (old[term + 1] ?? 0) - (old[term] ?? 0);
  for (const term of added) starts[term + 1] = (starts[term + 1] ?? 0) + 1;
  for (let term = 0; term < termCount; term++) starts[term + 1] = (starts[term + 1] ?? 0) + (starts[term] ?? 0);
  return starts;
}

/** Moves the postings that were in order before; gives where the next posting of each term goes. */
async function moveOld(old: MergedPostings, to: MergedPostings, pace: Pace): Promise<Int32Array> {
  const next = to.starts.slice();
  let moved = 0;
  for (let term = 0; term + 1 < old.starts.length; term++) {
    const from = old.starts[term] ?? 0;
    const count = (old.starts[term + 1] ?? 0) - from;
    const shift = (to.starts[term] ?? 0) - from;
    for (let at = from; at < from + count; at++) {
      to.chunks[at + shift] = old.chunks[at] ?? 0;
      to.counts[at + shift] = old.counts[at] ?? 0;
    }
    next[term] = from + count + shift;
    moved += count + 1;
    if (moved < MOVED_AT_ONCE) continue;
    moved = 0;
    if (pace.isOver) await pace.rest();
  }
  return next;
}

async function merge(old: MergedPostings, added: Waiting, termCount: number): Promise<MergedPostings> {
  const starts = startsOf(old.starts, added.terms.used, termCount);
  const total = old.chunks.length + added.terms.length;
  const merged = { starts, chunks: new Int32Array(total), counts: new Uint16Array(total) };
  const pace = new Pace();
  const next = await moveOld(old, merged, pace);
  for (let at = 0; at < added.terms.length; at++) {
    const term = added.terms.values[at] ?? 0;
    const place = next[term] ?? 0;
    next[term] = place + 1;
    merged.chunks[place] = added.chunks.values[at] ?? 0;
    merged.counts[place] = Math.min(added.counts.values[at] ?? 0, 0xffff);
    if (at % MOVED_AT_ONCE === 0 && pace.isOver) await pace.rest();
  }
  return merged;
}
