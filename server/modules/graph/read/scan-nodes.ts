import type { Queryable } from '../../../platform/db/index.ts';
import {
  bestFirst,
  ENOUGH_FOUND,
  matchName,
  matchProperties,
  matchSimilar,
  MOST_SIMILAR,
  nodeOf,
  similarText,
  type Match,
  type SimilarText,
} from '../search/match.ts';
import { foldText } from '../search/terms.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { namedNodes, type NamedNode, type NodeFilter } from '../store/read-nodes.ts';

/** Names that are taken at once while others wait: some milliseconds. */
const NAMES_AT_ONCE = 2000;
const WORDS = /[\p{L}\p{N}]+/gu;

export interface ScanQuery {
  text: string;
  withProperties: boolean;
  filter: NodeFilter;
  most: number;
}

/** What was found so far. */
class Scan {
  readonly #folded: string;
  readonly #wanted: SimilarText;
  readonly #direct: Match[] = [];
  readonly #similar: Match[] = [];
  readonly #held: number[] = [];

  constructor(folded: string) {
    this.#folded = folded;
    this.#wanted = similarText(folded);
  }

  take([no, , name, holdsWords]: NamedNode): void {
    const folded = foldText(name);
    const match = matchName(no, folded, this.#folded);
    if (match !== undefined) {
      this.#direct.push(match);
      return;
    }
    if (holdsWords) this.#held.push(no);
    const similar = this.#direct.length < ENOUGH_FOUND ? matchSimilar(no, folded, this.#wanted) : undefined;
    if (similar !== undefined) this.#similar.push(similar);
  }

  /** Numbers of the nodes, best first. */
  get nos(): number[] {
    const isEnough = this.#direct.length >= ENOUGH_FOUND;
    const similar = isEnough ? [] : this.#similar.toSorted((a, b) => a - b).slice(0, MOST_SIMILAR);
    const known = new Set(similar.map(nodeOf));
    const held = this.#held.filter((no) => !known.has(no)).map(matchProperties);
    return bestFirst([...this.#direct, ...similar, ...held]);
  }
}

/**
 * The search of a graph that is not in memory: reads all names, and ranks them the same. Of properties, which the
 * database looks through, it takes those whose text contains the words, be they whole words or not.
 */
export async function scanNodes(db: Queryable, row: GraphRow, query: ScanQuery): Promise<number[]> {
  const { text, withProperties, filter, most } = query;
  const folded = foldText(text);
  const words = withProperties ? (folded.match(WORDS) ?? []) : [];
  const scan = new Scan(folded);
  for (let after = ''; ;) {
    const nodes = await namedNodes(db, row, { filter, after, limit: NAMES_AT_ONCE, words });
    for (const node of nodes) scan.take(node);
    const last = nodes.at(-1);
    if (!last) return scan.nos.slice(0, most);
    after = last[1];
  }
}
