import type { EdgeInput } from '../../../../contract/shared/graph-shapes.ts';
import { arrayOf, intArrayOf } from '../store/array-literal.ts';
import type { SyncReply, SyncStep } from './sync-step.ts';

const EDGES_AT_ONCE = 25_000;

/** Numbers of the nodes (negative: none yet) and relations that edges name. */
export interface EdgeNumbers {
  nodes: ReadonlyMap<string, number>;
  relations: ReadonlyMap<string, number>;
}

/** Edges of a body as columns of numbers. */
interface Numbered {
  from: Int32Array;
  to: Int32Array;
  relation: Int32Array;
}

function numberEdges(edges: readonly EdgeInput[], { nodes, relations }: EdgeNumbers): Numbered {
  const from = new Int32Array(edges.length);
  const to = new Int32Array(edges.length);
  const relation = new Int32Array(edges.length);
  for (const [i, edge] of edges.entries()) {
    from[i] = nodes.get(edge.from) ?? -1;
    to[i] = nodes.get(edge.to) ?? -1;
    relation[i] = relations.get(edge.relation) ?? -1;
  }
  return { from, to, relation };
}

function at(column: Int32Array, index: number): number {
  return column[index] ?? 0;
}

/** Indexes of connected edges in the order of the table's key, which inserts fastest; of the same edge, as they came. */
function sortedIndexes({ from, to, relation }: Numbered): Uint32Array {
  const indexes = new Uint32Array(from.length);
  let count = 0;
  for (let i = 0; i < from.length; i++) if (at(from, i) >= 0 && at(to, i) >= 0) indexes[count++] = i;
  return indexes
    .subarray(0, count)
    .toSorted(
      (a, b) => at(from, a) - at(from, b) || at(to, a) - at(to, b) || at(relation, a) - at(relation, b) || a - b,
    );
}

/** The last index of each edge, and the properties that were given last, where they were given earlier. */
function lastOfEach(edges: readonly EdgeInput[], columns: Numbered) {
  const { from, to, relation } = columns;
  const sorted = sortedIndexes(columns);
  const last: number[] = [];
  const earlier = new Map<number, Record<string, unknown>>();
  for (const index of sorted) {
    const before = last.at(-1);
    const isSame =
      before !== undefined &&
      at(from, before) === at(from, index) &&
      at(to, before) === at(to, index) &&
      at(relation, before) === at(relation, index);
    if (!isSame) {
      last.push(index);
      continue;
    }
    last[last.length - 1] = index;
    const given = edges[before]?.properties ?? earlier.get(before);
    if (given !== undefined && edges[index]?.properties === undefined) earlier.set(index, given);
  }
  return { last, earlier };
}

function propertiesArray(given: readonly (Record<string, unknown> | undefined)[]): string {
  // A shorter array is filled up with NULL.
  if (given.every((properties) => properties === undefined)) return '{}';
  return arrayOf(given.map((properties) => (properties === undefined ? null : JSON.stringify(properties))));
}

function* pendingSteps(edges: readonly EdgeInput[], { from, to }: Numbered): Generator<SyncStep, void, SyncReply> {
  const byKey = new Map<string, EdgeInput>();
  for (const [i, edge] of edges.entries()) {
    if (at(from, i) >= 0 && at(to, i) >= 0) continue;
    const key = JSON.stringify([edge.from, edge.to, edge.relation]);
    const properties = edge.properties ?? byKey.get(key)?.properties;
    byKey.set(key, { ...edge, ...(properties ? { properties } : {}) });
  }
  const pending = [...byKey.values()];
  for (let start = 0; start < pending.length; start += EDGES_AT_ONCE) {
    const some = pending.slice(start, start + EDGES_AT_ONCE);
    yield {
      kind: 'pending',
      columns: {
        count: some.length,
        from: arrayOf(some.map((edge) => edge.from)),
        to: arrayOf(some.map((edge) => edge.to)),
        relations: arrayOf(some.map(({ relation }) => relation)),
        properties: propertiesArray(some.map(({ properties }) => properties)),
      },
    };
  }
}

/** Writes the edges whose nodes exist, and keeps the others as pending. */
export function* edgeSteps(edges: readonly EdgeInput[], numbers: EdgeNumbers): Generator<SyncStep, void, SyncReply> {
  const columns = numberEdges(edges, numbers);
  const { last, earlier } = lastOfEach(edges, columns);
  for (let start = 0; start < last.length; start += EDGES_AT_ONCE) {
    const some = last.slice(start, start + EDGES_AT_ONCE);
    yield {
      kind: 'edges',
      columns: {
        count: some.length,
        from: intArrayOf(some.map((i) => at(columns.from, i))),
        to: intArrayOf(some.map((i) => at(columns.to, i))),
        relations: intArrayOf(some.map((i) => at(columns.relation, i))),
        properties: propertiesArray(some.map((i) => edges[i]?.properties ?? earlier.get(i))),
      },
    };
  }
  yield* pendingSteps(edges, columns);
}
