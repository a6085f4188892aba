import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GraphIndex } from '../memory/graph-index.ts';
import { NamePairs } from './name-pairs.ts';
import { NameText } from './name-text.ts';
import { PostingsBuilder, type Postings } from './postings.ts';
import { foldText, pairsOf, termsOfProperties } from './terms.ts';

/** Names that are taken at once while others wait: some milliseconds. */
const NAMES_AT_ONCE = 1000;
/** Nodes whose properties are read at once. */
const PROPERTIES_AT_ONCE = 4000;

/** Reads JSON texts of properties, cut or not, by number of the node. */
export type ReadProperties = (nos: readonly number[]) => Promise<Map<number, string>>;

/** What is searched, as of some moment. */
export interface SearchParts {
  names: NameText;
  /** By line of `names`. */
  pairs: NamePairs;
  /** Terms of properties, by number of the node. */
  terms: Postings;
  bytes: number;
}

/** Thrown when the parts would take more memory than they may. */
export class SearchTooLarge extends Error {
  override name = 'SearchTooLarge';
}

/** Makes the parts of a graph in steps, between which other requests are served. */
export async function buildSearch(index: GraphIndex, read: ReadProperties, mostBytes: number): Promise<SearchParts> {
  const nos = Int32Array.from(index.nodes.keys()).filter((no) => index.nodes[no] !== undefined);
  const pairs = new PostingsBuilder();
  const sizes = new Uint16Array(nos.length);
  const terms = new PostingsBuilder();
  const names: string[] = [];
  let properties = new Map<number, string>();
  for (const [line, no] of nos.entries()) {
    if (line % NAMES_AT_ONCE === 0) {
      await nextTurn();
      if (pairs.bytes + terms.bytes > mostBytes) throw new SearchTooLarge();
    }
    if (line % PROPERTIES_AT_ONCE === 0) {
      const some = [...nos.subarray(line, line + PROPERTIES_AT_ONCE)];
      properties = await read(some.filter((one) => index.nodes[one]?.hasProperties));
    }
    // One that has been deleted since is told as changed.
    const folded = foldText(index.nodes[no]?.name ?? '');
    const pairsHere = pairsOf(folded);
    sizes[line] = pairsHere.size;
    for (const pair of pairsHere) pairs.add(pair, line);
    names.push(folded);
    const text = properties.get(no);
    if (text !== undefined) for (const term of termsOfProperties(text)) terms.add(term, no);
  }
  await nextTurn();
  const text = new NameText(names, nos);
  const parts = { names: text, pairs: new NamePairs(await pairs.build(), sizes), terms: await terms.build() };
  return { ...parts, bytes: text.bytes + parts.pairs.bytes + parts.terms.bytes };
}
