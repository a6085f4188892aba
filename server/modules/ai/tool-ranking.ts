import { termsOf } from '../../platform/text/index.ts';
import type { ToolDefinition } from '../tools/index.ts';

/** BM25 (Robertson and Zaragoza, 2009) with its usual constants. */
const K1 = 1.2;
const B = 0.75;
/** A word of the name counts as that many words of the description. */
const NAME_WEIGHT = 3;
const DESCRIPTION_LENGTH = 2000;

/** One tool that has a term, by its place in the list, and how well the term describes it. */
interface Posting {
  place: number;
  weight: number;
}

/** A text that tools are chosen for; what was said before the message counts less. */
export interface WeightedText {
  text: string;
  weight: number;
}

type TermCounts = ReadonlyMap<string, number>;

/** `getOrderStatus` is three words. */
function wordsOfName(name: string): string {
  return name.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ');
}

function countTerms({ name, description }: ToolDefinition): TermCounts {
  const counts = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const term of termsOf(text)) counts.set(term, (counts.get(term) ?? 0) + weight);
  };
  add(wordsOfName(name), NAME_WEIGHT);
  add(description.slice(0, DESCRIPTION_LENGTH), 1);
  return counts;
}

/** Counted once for each definition, whatever lists it is in. */
const counted = new WeakMap<ToolDefinition, TermCounts>();

function countsOf(definition: ToolDefinition): TermCounts {
  const known = counted.get(definition);
  if (known) return known;
  const counts = countTerms(definition);
  counted.set(definition, counts);
  return counts;
}

function lengthOf(counts: TermCounts): number {
  let length = 0;
  for (const count of counts.values()) length += count;
  return length;
}

/** The tools of a list by the terms of their names and descriptions. */
export class ToolRanking {
  readonly #definitions: readonly ToolDefinition[];
  readonly #postings = new Map<string, Posting[]>();

  constructor(definitions: readonly ToolDefinition[]) {
    this.#definitions = definitions;
    const all = definitions.map(countsOf);
    const lengths = all.map(lengthOf);
    const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(lengths.length, 1);
    for (const [place, counts] of all.entries()) {
      const norm = K1 * (1 - B + (B * (lengths[place] ?? 0)) / mean);
      for (const [term, count] of counts) this.#add(term, { place, weight: (count * (K1 + 1)) / (count + norm) });
    }
  }

  #add(term: string, posting: Posting): void {
    const postings = this.#postings.get(term);
    if (postings) postings.push(posting);
    else this.#postings.set(term, [posting]);
  }

  /**
   * The tools that fit the texts best, without those of some names, in the order of the list; where too few fit, the
   * first of the others too.
   */
  best(count: number, texts: readonly WeightedText[], without?: ReadonlySet<string>): ToolDefinition[] {
    const scores = new Float64Array(this.#definitions.length);
    for (const { text, weight } of texts) {
      for (const term of new Set(termsOf(text))) this.#score(term, weight, scores);
    }
    const candidates = Array.from(this.#definitions.keys()).filter(
      (place) => !without?.has(this.#definitions[place]?.name ?? ''),
    );
    const places = candidates.toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
    const chosen = new Set(places.slice(0, count));
    return this.#definitions.filter((_, place) => chosen.has(place));
  }

  #score(term: string, weight: number, scores: Float64Array): void {
    const postings = this.#postings.get(term) ?? [];
    const total = this.#definitions.length;
    const rarity = Math.log(1 + (total - postings.length + 0.5) / (postings.length + 0.5));
    for (const posting of postings) {
      scores[posting.place] = (scores[posting.place] ?? 0) + weight * rarity * posting.weight;
    }
  }
}
