import type { GraphChanges } from '../store/change-graph.ts';
import type { NodeChange } from '../store/write-items.ts';
import { labelOf, type Adjacency } from './adjacency.ts';

/** A node as it is held in memory; its properties are not. */
export interface HeldNode {
  externalId: string;
  name: string;
  typeNo: number;
  hasProperties: boolean;
}

/** Bytes that a node takes beside its texts: its object, and its places in two maps and a list. */
const NODE_BYTES = 180;

/** Bytes that a graph takes before it holds anything: many graphs are small. */
const GRAPH_BYTES = 4096;

/** A whole graph in memory, as of one counter: names and adjacency, without properties. */
export class GraphIndex {
  counter: number;
  readonly out: Adjacency;
  readonly in: Adjacency;
  readonly words: string[] = [];
  readonly #relations = new Map<string, number>();
  /** By number; undefined where a node is gone. */
  readonly nodes: (HeldNode | undefined)[] = [];
  readonly #byExternalId = new Map<string, number>();
  readonly #byName = new Map<string, number | number[]>();
  #textLength = 0;
  /** Told of nodes that came, changed or went. */
  onNode: (no: number) => void = () => undefined;

  constructor(counter: number, edges: { out: Adjacency; in: Adjacency }) {
    this.counter = counter;
    this.out = edges.out;
    this.in = edges.in;
  }

  /** Bytes that its search takes. */
  searchBytes = 0;

  get bytes(): number {
    const edges = this.out.bytes + this.in.bytes;
    return GRAPH_BYTES + this.searchBytes + edges + NODE_BYTES * this.nodes.length + 2 * this.#textLength;
  }

  /** The number of a relation, if the graph knows it. */
  relationNo(word: string): number | undefined {
    return this.#relations.get(word);
  }

  noOf(externalId: string): number | undefined {
    return this.#byExternalId.get(externalId);
  }

  /** Numbers of the nodes of exactly this name, in order. */
  nosNamed(name: string): number[] {
    const found = this.#byName.get(name);
    return typeof found === 'number' ? [found] : (found ?? []).toSorted((a, b) => a - b);
  }

  addWord(no: number, kind: string, word: string): void {
    this.words[no] = word;
    if (kind === 'relation') this.#relations.set(word, no);
  }

  putNode([no, externalId, typeNo, name, properties]: NodeChange): void {
    this.#dropName(no);
    if (externalId === undefined || typeNo === undefined || name === undefined) {
      this.#dropNode(no);
      return;
    }
    while (this.nodes.length < no) this.nodes.push(undefined);
    this.nodes[no] = { externalId, name, typeNo, hasProperties: properties === 1 };
    this.#byExternalId.set(externalId, no);
    const namesakes = this.#byName.get(name);
    if (namesakes === undefined) this.#byName.set(name, no);
    else if (typeof namesakes === 'number') this.#byName.set(name, [namesakes, no]);
    else namesakes.push(no);
    this.#textLength += externalId.length + name.length;
    this.onNode(no);
  }

  /** Applies what one write changed; it has to be the next one. */
  apply(counter: number, { words, nodes, edges }: GraphChanges): void {
    if (counter !== this.counter + 1) return;
    for (const word of words) this.addWord(...word);
    for (const node of nodes) this.putNode(node);
    for (const [from, to, relation, state] of edges) {
      if (state === 0) {
        this.out.remove(from, to, relation);
        this.in.remove(to, from, relation);
      } else {
        this.out.put(from, to, labelOf(relation, state === 2));
        this.in.put(to, from, labelOf(relation, state === 2));
      }
    }
    for (const rows of [this.out, this.in]) if (rows.isWorn) rows.compact(this.nodes.length);
    this.counter = counter;
  }

  #dropName(no: number): void {
    const before = this.nodes[no];
    if (!before) return;
    this.#textLength -= before.externalId.length + before.name.length;
    const namesakes = this.#byName.get(before.name);
    if (typeof namesakes === 'number') this.#byName.delete(before.name);
    else if (namesakes?.length === 1) this.#byName.delete(before.name);
    else if (namesakes) namesakes.splice(namesakes.indexOf(no), 1);
  }

  #dropNode(no: number): void {
    const before = this.nodes[no];
    if (!before) return;
    this.#byExternalId.delete(before.externalId);
    this.nodes[no] = undefined;
    this.out.each(no, (other, label) => this.in.remove(other, no, label >> 1));
    this.in.each(no, (other, label) => this.out.remove(other, no, label >> 1));
    this.out.clear(no);
    this.in.clear(no);
    this.onNode(no);
  }
}
