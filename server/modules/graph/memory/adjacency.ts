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

/** Changes up to which rows are not made anew. */
const FEW_CHANGES = 4096;

/** Edges of one node: a part of the columns, in order of other end and relation. A label below 0 is of one that is gone. */
interface Row {
  others: { [place: number]: number; length: number };
  labels: { [place: number]: number; length: number };
  start: number;
  end: number;
}

/** The label of an edge that is gone, and of a gone one the label it had. */
function turn(label: number): number {
  return ~label;
}

/** Where an edge stands in a row, or would stand. */
function placeIn({ others, labels, start, end }: Row, other: number, relation: number): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    const label = labels[middle] ?? 0;
    const order = (others[middle] ?? 0) - other || relationOf(label < 0 ? turn(label) : label) - relation;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isAt({ others, labels, end }: Row, place: number, [other, relation]: readonly [number, number]): boolean {
  const label = labels[place] ?? 0;
  return place < end && others[place] === other && relationOf(label < 0 ? turn(label) : label) === relation;
}

/**
 * The edges of each node in one direction, in compressed rows: 8 bytes for an edge and 4 for a node. Edges that come
 * later stand in lists beside the rows, and those that go are marked, until there are so many that rows are made anew.
 */
export class Adjacency {
  #offsets: Int32Array;
  #others: Int32Array;
  #labels: Int32Array;
  readonly #added = new Map<number, { others: number[]; labels: number[] }>();
  #addedSize = 0;
  #goneSize = 0;

  private constructor(rows: { offsets: Int32Array; others: Int32Array; labels: Int32Array }) {
    this.#offsets = rows.offsets;
    this.#others = rows.others;
    this.#labels = rows.labels;
  }

  /** Of edges given as columns, those of each node in order of their other end and label. */
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
    const end = this.#offsets[node + 1] ?? 0;
    for (let i = this.#offsets[node] ?? end; i < end; i++) {
      const label = this.#labels[i] ?? 0;
      if (label >= 0) visit(this.#others[i] ?? 0, label);
    }
    const added = this.#added.get(node);
    if (!added) return;
    for (let i = 0; i < added.others.length; i++) visit(added.others[i] ?? 0, added.labels[i] ?? 0);
  }

  /** Adds an edge, or gives the one of that relation a new label. */
  put(node: number, other: number, label: number): void {
    const edge = [other, relationOf(label)] as const;
    const row = this.#rowOf(node);
    const place = placeIn(row, ...edge);
    if (isAt(row, place, edge)) {
      if ((this.#labels[place] ?? 0) < 0) this.#goneSize--;
      this.#labels[place] = label;
      return;
    }
    const added = this.#added.get(node) ?? { others: [], labels: [] };
    this.#added.set(node, added);
    const list = { ...added, start: 0, end: added.others.length };
    const at = placeIn(list, ...edge);
    if (isAt(list, at, edge)) {
      added.labels[at] = label;
      return;
    }
    added.others.splice(at, 0, other);
    added.labels.splice(at, 0, label);
    this.#addedSize++;
  }

  remove(node: number, other: number, relation: number): void {
    const edge = [other, relation] as const;
    const row = this.#rowOf(node);
    const place = placeIn(row, ...edge);
    if (isAt(row, place, edge)) {
      this.#markGone(place);
      return;
    }
    const added = this.#added.get(node);
    if (!added) return;
    const list = { ...added, start: 0, end: added.others.length };
    const at = placeIn(list, ...edge);
    if (!isAt(list, at, edge)) return;
    added.others.splice(at, 1);
    added.labels.splice(at, 1);
    this.#addedSize--;
  }

  /** Takes all edges of a node out. */
  clear(node: number): void {
    const { start, end } = this.#rowOf(node);
    for (let place = start; place < end; place++) this.#markGone(place);
    this.#addedSize -= this.#added.get(node)?.others.length ?? 0;
    this.#added.delete(node);
  }

  /** Whether so much has changed that new rows are due. */
  get isWorn(): boolean {
    const changed = this.#addedSize + this.#goneSize;
    return changed > FEW_CHANGES && changed > this.#others.length / 2;
  }

  /** Makes the rows anew. */
  compact(nodeCount: number): void {
    const size = this.#others.length - this.#goneSize + this.#addedSize;
    const columns = { near: new Int32Array(size), far: new Int32Array(size), labels: new Int32Array(size) };
    let count = 0;
    for (let node = 0; node < nodeCount; node++) {
      const start = count;
      this.each(node, (other, label) => {
        columns.near[count] = node;
        columns.far[count] = other;
        columns.labels[count++] = label;
      });
      if (this.#added.has(node)) sortEdges(columns, start, count);
    }
    const rows = Adjacency.of(nodeCount, columns);
    this.#offsets = rows.#offsets;
    this.#others = rows.#others;
    this.#labels = rows.#labels;
    this.#added.clear();
    this.#addedSize = 0;
    this.#goneSize = 0;
  }

  get bytes(): number {
    return 8 * this.#others.length + 4 * this.#offsets.length + 16 * this.#addedSize;
  }

  #markGone(place: number): void {
    const label = this.#labels[place] ?? 0;
    if (label < 0) return;
    this.#labels[place] = turn(label);
    this.#goneSize++;
  }

  #rowOf(node: number): Row {
    const end = this.#offsets[node + 1] ?? 0;
    return { others: this.#others, labels: this.#labels, start: this.#offsets[node] ?? end, end };
  }
}

/** Puts a part of columns into the order of a row. */
function sortEdges({ far, labels }: { far: Int32Array; labels: Int32Array }, start: number, end: number): void {
  const edges = Array.from(far.subarray(start, end), (other, i) => [other, labels[start + i] ?? 0] as const);
  for (const [i, [other, label]] of edges.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]).entries()) {
    far[start + i] = other;
    labels[start + i] = label;
  }
}
