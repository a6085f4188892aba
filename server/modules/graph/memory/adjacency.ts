/** Told of one edge of a node: the node at its other end, and its label (twice the relation, plus 1 with properties). */
export type VisitEdge = (other: number, label: number) => void;

export function labelOf(relation: number, isWithProperties: boolean): number {
  return 2 * relation + (isWithProperties ? 1 : 0);
}

export function relationOf(label: number): number {
  return label >> 1;
}

export function hasProperties(label: number): boolean {
  return (label & 1) === 1;
}

/**
 * The edges of each node in one direction, in compressed rows: 8 bytes for an edge and 4 for a node. A node whose edges
 * changed has a list of its own, which stands in place of its row.
 */
export class Adjacency {
  #offsets: Int32Array;
  #others: Int32Array;
  #labels: Int32Array;
  /** Other end and label, in turns. */
  readonly #changed = new Map<number, number[]>();
  #changedSize = 0;

  private constructor(rows: { offsets: Int32Array; others: Int32Array; labels: Int32Array }) {
    this.#offsets = rows.offsets;
    this.#others = rows.others;
    this.#labels = rows.labels;
  }

  /** Of edges in any order, given as columns. */
  static of(nodeCount: number, columns: { near: Int32Array; far: Int32Array; labels: Int32Array }): Adjacency {
    const { near, far, labels } = columns;
    const offsets = new Int32Array(nodeCount + 1);
    for (const node of near) offsets[node + 1] = (offsets[node + 1] ?? 0) + 1;
    for (let node = 0; node < nodeCount; node++) offsets[node + 1] = (offsets[node + 1] ?? 0) + (offsets[node] ?? 0);
    const next = offsets.slice();
    const rows = { offsets, others: new Int32Array(near.length), labels: new Int32Array(near.length) };
    for (let i = 0; i < near.length; i++) {
      const node = near[i] ?? 0;
      const place = next[node] ?? 0;
      next[node] = place + 1;
      rows.others[place] = far[i] ?? 0;
      rows.labels[place] = labels[i] ?? 0;
    }
    return new Adjacency(rows);
  }

  each(node: number, visit: VisitEdge): void {
    const own = this.#changed.get(node);
    if (own) {
      for (let i = 0; i < own.length; i += 2) visit(own[i] ?? 0, own[i + 1] ?? 0);
      return;
    }
    const end = this.#offsets[node + 1] ?? 0;
    for (let i = this.#offsets[node] ?? end; i < end; i++) visit(this.#others[i] ?? 0, this.#labels[i] ?? 0);
  }

  /** How many edges a node has. */
  degree(node: number): number {
    const own = this.#changed.get(node);
    return own ? own.length / 2 : (this.#offsets[node + 1] ?? 0) - (this.#offsets[node] ?? 0) || 0;
  }

  /** Adds an edge, or gives the one of that relation a new label. */
  put(node: number, other: number, label: number): void {
    const list = this.#listOf(node);
    const at = findEdge(list, other, relationOf(label));
    if (at === -1) {
      list.push(other, label);
      this.#changedSize += 2;
    } else list[at + 1] = label;
  }

  remove(node: number, other: number, relation: number): void {
    const list = this.#listOf(node);
    const at = findEdge(list, other, relation);
    if (at !== -1) list.splice(at, 2);
  }

  /** Takes all edges of a node out. */
  clear(node: number): void {
    this.#listOf(node).length = 0;
  }

  /** Whether lists of their own hold so much that new rows are due. */
  get isWorn(): boolean {
    return this.#changedSize > 4096 && this.#changedSize > this.#others.length / 2;
  }

  /** Puts every list back into rows. */
  compact(nodeCount: number): void {
    const offsets = new Int32Array(nodeCount + 1);
    for (let node = 0; node < nodeCount; node++) offsets[node + 1] = (offsets[node] ?? 0) + this.degree(node);
    const size = offsets[nodeCount] ?? 0;
    const others = new Int32Array(size);
    const labels = new Int32Array(size);
    let place = 0;
    for (let node = 0; node < nodeCount; node++) {
      this.each(node, (other, label) => {
        others[place] = other;
        labels[place++] = label;
      });
    }
    this.#offsets = offsets;
    this.#others = others;
    this.#labels = labels;
    this.#changed.clear();
    this.#changedSize = 0;
  }

  get bytes(): number {
    return 8 * this.#others.length + 4 * this.#offsets.length + 8 * this.#changedSize;
  }

  #listOf(node: number): number[] {
    const known = this.#changed.get(node);
    if (known) return known;
    const list: number[] = [];
    this.each(node, (other, label) => list.push(other, label));
    this.#changed.set(node, list);
    this.#changedSize += list.length;
    return list;
  }
}

function findEdge(list: readonly number[], other: number, relation: number): number {
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === other && relationOf(list[i + 1] ?? 0) === relation) return i;
  }
  return -1;
}
