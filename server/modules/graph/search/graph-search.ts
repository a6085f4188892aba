import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GraphIndex } from '../memory/graph-index.ts';
import { matchName, NameText, type Match } from './name-text.ts';
import { hashText, Postings } from './postings.ts';
import { foldText, pairsOf, wordsOf, wordsOfProperties } from './terms.ts';

/** Names that are taken at once while others wait: some milliseconds. */
const NAMES_AT_ONCE = 4000;
/** Changed nodes beyond which the whole is built anew. */
const MOST_CHANGED = 2000;
/** Similar names are looked for only where the wanted text itself is found this rarely. */
const ENOUGH_FOUND = 10;
const MOST_SIMILAR = 100;
/** Nodes whose properties are checked for words. */
const MOST_CHECKED = 200;
/** Share of pairs in common (Dice) from which names are similar. */
const SIMILAR = 0.6;
const SIMILAR_RANK = 4;
const PROPERTIES_RANK = 5;

/** Reads JSON texts of properties, cut or not, by number of the node. */
export type ReadProperties = (nos: readonly number[]) => Promise<Map<number, string>>;

/** A node that changed since the rest was built. */
interface Changed {
  name: string | undefined;
  words: ReadonlySet<string>;
}

function bestFirst(a: Match, b: Match): number {
  return a.rank - b.rank || a.tie - b.tie || a.no - b.no;
}

/** Names and words of one graph, for search in memory. */
export class GraphSearch {
  readonly #index: GraphIndex;
  readonly #read: ReadProperties;
  #names = new NameText([], new Int32Array(0));
  #pairs = Postings.builder().build();
  #words = Postings.builder().build();
  /** Nodes that changed and were not looked at since. */
  readonly #dirty = new Set<number>();
  readonly #changed = new Map<number, Changed>();

  #turn: Promise<void> = Promise.resolve();

  private constructor(index: GraphIndex, read: ReadProperties) {
    this.#index = index;
    this.#read = read;
    index.onNode = (no) => this.#dirty.add(no);
  }

  static async build(index: GraphIndex, read: ReadProperties): Promise<GraphSearch> {
    const search = new GraphSearch(index, read);
    await search.#buildAll();
    return search;
  }

  /** Numbers of the nodes that match, best first. */
  async find(text: string, { most, withProperties }: { most: number; withProperties: boolean }): Promise<number[]> {
    await this.#catchUp();
    const wanted = foldText(text);
    const direct = this.#findDirect(wanted, most);
    const known = new Set(direct.map(({ no }) => no));
    const similar = direct.length < ENOUGH_FOUND ? this.#findSimilar(wanted, known) : [];
    for (const { no } of similar) known.add(no);
    const byWords = withProperties ? await this.#findByWords(wanted, known) : [];
    return [...direct, ...similar, ...byWords].toSorted(bestFirst).map(({ no }) => no);
  }

  #findDirect(wanted: string, most: number): Match[] {
    const found = this.#names.find(wanted, most).filter(({ no }) => !this.#changed.has(no));
    for (const [no, { name }] of this.#changed) {
      const match = name === undefined ? undefined : matchName(name, wanted);
      if (match) found.push({ no, ...match });
    }
    return found;
  }

  #findSimilar(wanted: string, known: ReadonlySet<number>): Match[] {
    const pairs = pairsOf(wanted);
    const shared = new Uint8Array(this.#names.lines);
    const lines: number[] = [];
    for (const pair of pairs) {
      for (const line of this.#pairs.of(hashText(pair))) {
        const count = (shared[line] ?? 0) + 1;
        shared[line] = count;
        // Each line once: when it has half of the pairs.
        if (count === Math.ceil(pairs.size / 2)) lines.push(line);
      }
    }
    const candidates = lines.map((line) => ({ no: this.#names.noOf(line), name: this.#names.nameOf(line) }));
    const unchanged = candidates.filter(({ no }) => !this.#changed.has(no));
    const changed = [...this.#changed].map(([no, { name = '' }]) => ({ no, name }));
    return [...unchanged, ...changed]
      .filter(({ no }) => !known.has(no))
      .map(({ no, name }) => ({ no, rank: SIMILAR_RANK, tie: -similarity(pairs, pairsOf(name)) }))
      .filter(({ tie }) => -tie >= SIMILAR)
      .toSorted((a, b) => a.tie - b.tie)
      .slice(0, MOST_SIMILAR);
  }

  async #findByWords(wanted: string, known: ReadonlySet<number>): Promise<Match[]> {
    const words = wordsOf(wanted);
    const lists = words.map((word) => this.#words.of(hashText(word))).toSorted((a, b) => a.length - b.length);
    const [shortest] = lists;
    if (!shortest) return [];
    const others = lists.slice(1).map((list) => new Set(list));
    const candidates: number[] = [];
    for (const no of shortest) {
      const isOpen = !known.has(no) && !this.#changed.has(no) && others.every((other) => other.has(no));
      if (isOpen && candidates.push(no) === MOST_CHECKED) break;
    }
    const properties = await this.#read(candidates);
    const holdsAll = (held: ReadonlySet<string>): boolean => words.every((word) => held.has(word));
    const found = candidates.filter((no) => holdsAll(wordsOfProperties(properties.get(no) ?? '{}')));
    for (const [no, changed] of this.#changed) if (!known.has(no) && holdsAll(changed.words)) found.push(no);
    return found.map((no) => ({ no, rank: PROPERTIES_RANK, tie: 0 }));
  }

  /** One after the other, so that everybody sees what was changed before they asked. */
  #catchUp(): Promise<void> {
    const turn = this.#turn.then(() => this.#takeChanges());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #takeChanges(): Promise<void> {
    if (this.#dirty.size + this.#changed.size > MOST_CHANGED) {
      await this.#buildAll();
      return;
    }
    if (this.#dirty.size === 0) return;
    const nos = [...this.#dirty];
    this.#dirty.clear();
    const properties = await this.#read(nos.filter((no) => this.#index.nodes[no]?.hasProperties));
    for (const no of nos) {
      const name = this.#index.nodes[no]?.name;
      const words = wordsOfProperties(properties.get(no) ?? '{}');
      this.#changed.set(no, { name: name === undefined ? undefined : foldText(name), words });
    }
  }

  async #buildAll(): Promise<void> {
    this.#dirty.clear();
    const nodes = this.#index.nodes.flatMap((node, no) => (node ? [{ no, ...node }] : []));
    const pairs = Postings.builder();
    const words = Postings.builder();
    const names: string[] = [];
    for (let start = 0; start < nodes.length; start += NAMES_AT_ONCE) {
      const some = nodes.slice(start, start + NAMES_AT_ONCE);
      for (const { name } of some) {
        const folded = foldText(name);
        for (const pair of pairsOf(folded)) pairs.add(hashText(pair), names.length);
        names.push(folded);
      }
      const properties = await this.#read(some.flatMap(({ no, hasProperties }) => (hasProperties ? [no] : [])));
      for (const [no, text] of properties) for (const word of wordsOfProperties(text)) words.add(hashText(word), no);
      await nextTurn();
    }
    this.#names = new NameText(
      names,
      Int32Array.from(nodes, ({ no }) => no),
    );
    this.#pairs = pairs.build();
    this.#words = words.build();
    this.#changed.clear();
    this.#index.searchBytes = this.#names.bytes + this.#pairs.bytes + this.#words.bytes;
  }
}

/** Dice's coefficient: twice what two sets share, by what they hold together. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared++;
  return (2 * shared) / (a.size + b.size);
}
