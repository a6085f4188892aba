import { termsOf } from '../../../platform/text/index.ts';
import type { GraphIndex } from '../memory/graph-index.ts';
import { buildSearch, type ReadProperties, type SearchParts } from './build-search.ts';
import {
  bestFirst,
  ENOUGH_FOUND,
  matchName,
  matchProperties,
  matchShare,
  matchSimilar,
  MOST_SIMILAR,
  nodeOf,
  similarText,
  type Match,
} from './match.ts';
import type { Accepts } from './name-text.ts';
import { holdsLine } from './postings.ts';
import { foldText, innerPairsOf, termsOfProperties } from './terms.ts';

/** Changed nodes beyond which the whole is built anew, beside the requests. */
const MOST_CHANGED = 2000;
/** Names that are looked at one by one, in some milliseconds; a search of their text, which stops early, goes beyond. */
const MOST_LINES = 50_000;

/** A node that changed since the rest was built. */
interface Changed {
  /** Undefined when the node is gone. */
  name: string | undefined;
  terms: ReadonlySet<string>;
}

export interface Wanted {
  /** Matches of one kind that are counted. */
  most: number;
  withProperties: boolean;
  accepts: Accepts;
}

export interface SearchSource {
  index: GraphIndex;
  read: ReadProperties;
  /** Bytes that the search may take. */
  mostBytes: number;
}

/** Names and terms of one graph, for search in memory. */
export class GraphSearch {
  readonly #source: SearchSource;
  #parts: SearchParts;
  /** Nodes that changed and were not looked at since. */
  readonly #dirty: Set<number>;
  readonly #changed = new Map<number, Changed>();
  #turn: Promise<void> = Promise.resolve();
  #isRebuilding = false;

  private constructor(source: SearchSource, parts: SearchParts, dirty: Set<number>) {
    this.#source = source;
    this.#dirty = dirty;
    this.#parts = parts;
  }

  /** Throws SearchTooLarge when it would take too much memory. */
  static async build(source: SearchSource): Promise<GraphSearch> {
    const dirty = new Set<number>();
    // Before the first node is read, so that none that changes meanwhile is missed.
    source.index.onNode = (no) => dirty.add(no);
    const parts = await buildSearch(source.index, source.read, source.mostBytes);
    source.index.searchBytes = parts.bytes;
    return new GraphSearch(source, parts, dirty);
  }

  /** Numbers of the nodes that match, best first. */
  async find(text: string, wanted: Wanted): Promise<number[]> {
    await this.#catchUp();
    const folded = foldText(text);
    const direct = this.#findDirect(folded, wanted);
    const similar = direct.length < ENOUGH_FOUND ? this.#findSimilar(folded, direct, wanted.accepts) : [];
    const held = wanted.withProperties && direct.length < wanted.most ? this.#findByTerms(text, wanted) : [];
    if (similar.length + held.length === 0) return bestFirst(direct, wanted.most);
    // A node that is found by its name and by its properties counts once, for its name.
    return [...new Set(bestFirst([...direct, ...similar, ...held]))].slice(0, wanted.most);
  }

  #findDirect(folded: string, { most, accepts }: Wanted): Match[] {
    const { names, pairs } = this.#parts;
    const isWanted = (no: number): boolean => !this.#changed.has(no) && accepts(no);
    const inner = innerPairsOf(folded);
    const lines = inner.size === 0 ? undefined : pairs.mayHold(inner);
    const found =
      lines && lines.length <= MOST_LINES
        ? names.findAmong(lines, folded, isWanted)
        : names.find(folded, { most, accepts: isWanted });
    for (const [no, { name }] of this.#changed) {
      const match = name === undefined || !accepts(no) ? undefined : matchName(no, name, folded);
      if (match !== undefined) found.push(match);
    }
    return found;
  }

  /** Names that are alike, of nodes that are not among the direct matches; only the best of them. */
  #findSimilar(folded: string, direct: readonly Match[], accepts: Accepts): Match[] {
    const { names, pairs } = this.#parts;
    const known = new Set(direct.map(nodeOf));
    const wanted = similarText(folded);
    const found: Match[] = [];
    const add = (match: Match | undefined): void => {
      if (match !== undefined) found.push(match);
    };
    pairs.eachSimilar(wanted.pairs, (line, share) => {
      const no = names.noOf(line);
      if (known.has(no) || this.#changed.has(no) || !accepts(no)) return;
      add(share === undefined ? matchSimilar(no, names.nameOf(line), wanted) : matchShare(no, share));
    });
    for (const [no, { name }] of this.#changed) {
      if (name !== undefined && !known.has(no) && accepts(no)) add(matchSimilar(no, name, wanted));
    }
    return found.toSorted((a, b) => a - b).slice(0, MOST_SIMILAR);
  }

  #findByTerms(text: string, { most, accepts }: Wanted): Match[] {
    const terms = [...new Set(termsOf(text))];
    const lists = terms.map((term) => this.#parts.terms.of(term)).toSorted((a, b) => a.length - b.length);
    const [shortest, ...others] = lists;
    if (!shortest) return [];
    const found: Match[] = [];
    for (const no of shortest) {
      if (found.length >= most) break;
      const isWanted = !this.#changed.has(no) && others.every((other) => holdsLine(other, no)) && accepts(no);
      if (isWanted) found.push(matchProperties(no));
    }
    for (const [no, changed] of this.#changed) {
      if (terms.every((term) => changed.terms.has(term)) && accepts(no)) found.push(matchProperties(no));
    }
    return found;
  }

  /** One after the other, so that everybody sees what was changed before they asked. */
  #catchUp(): Promise<void> {
    const turn = this.#turn.then(() => this.#takeChanges());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #takeChanges(): Promise<void> {
    if (this.#dirty.size === 0) return;
    const { index, read } = this.#source;
    const nos = [...this.#dirty];
    this.#dirty.clear();
    try {
      const properties = await read(nos.filter((no) => index.nodes[no]?.hasProperties));
      for (const no of nos) {
        const name = index.nodes[no]?.name;
        const terms = termsOfProperties(properties.get(no) ?? '{}');
        this.#changed.set(no, { name: name === undefined ? undefined : foldText(name), terms });
      }
    } catch (error) {
      for (const no of nos) this.#dirty.add(no);
      throw error;
    }
    if (this.#changed.size > MOST_CHANGED && !this.#isRebuilding) void this.#rebuild();
  }

  /** Builds anew beside the requests; when that fails the changes stay, and the next request tries again. */
  async #rebuild(): Promise<void> {
    this.#isRebuilding = true;
    await this.#buildAnew().catch(() => undefined);
    this.#isRebuilding = false;
  }

  /** Puts the changes into the rest, which answers together with them until that is done. */
  async #buildAnew(): Promise<void> {
    const { index, read, mostBytes } = this.#source;
    const before = new Map(this.#changed);
    this.#parts = await buildSearch(index, read, mostBytes);
    index.searchBytes = this.#parts.bytes;
    for (const [no, changed] of before) if (this.#changed.get(no) === changed) this.#changed.delete(no);
  }
}
