import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Adjacency, labelOf, relationOf } from './adjacency.ts';

const NODES = 5;
const edge = fc.record({ node: fc.nat(NODES + 1), other: fc.nat(NODES + 1), relation: fc.nat(2), has: fc.boolean() });
const change = fc.oneof(
  edge.map((one) => ({ kind: 'put' as const, ...one })),
  edge.map((one) => ({ kind: 'remove' as const, ...one })),
  edge.map((one) => ({ kind: 'clear' as const, ...one })),
  edge.map((one) => ({ kind: 'compact' as const, ...one })),
);
type Edge = typeof edge extends fc.Arbitrary<infer E> ? E : never;

function keyOf({ node, other, relation }: Edge): string {
  return `${node} ${other} ${relation}`;
}

/** Rows of different edges between the first nodes. */
function rowsOf(edges: readonly Edge[]): Adjacency {
  const sorted = edges.toSorted((a, b) => a.node - b.node || a.other - b.other || a.relation - b.relation);
  return Adjacency.of(NODES, {
    near: Int32Array.from(sorted, ({ node }) => node),
    far: Int32Array.from(sorted, ({ other }) => other),
    labels: Int32Array.from(sorted, ({ relation, has }) => labelOf(relation, has)),
  });
}

function apply(rows: Adjacency, map: Map<string, number>, { kind, ...one }: Edge & { kind: string }): void {
  const { node, other, relation, has } = one;
  if (kind === 'put') {
    rows.put(node, other, labelOf(relation, has));
    map.set(keyOf(one), labelOf(relation, has));
  } else if (kind === 'remove') {
    rows.remove(node, other, relation);
    map.delete(keyOf(one));
  } else if (kind === 'clear') {
    rows.clear(node);
    for (const key of [...map.keys()].filter((known) => known.startsWith(`${node} `))) map.delete(key);
  } else rows.compact(NODES + 2);
}

test('edges that are put, removed and cleared in any order are those of a map, made anew or not', () => {
  const first = fc.uniqueArray(edge, { selector: keyOf, maxLength: 30 });
  fc.assert(
    fc.property(first, fc.array(change, { maxLength: 60 }), (before, changes) => {
      const loaded = before.filter(({ node }) => node < NODES);
      const rows = rowsOf(loaded);
      const map = new Map(loaded.map((one) => [keyOf(one), labelOf(one.relation, one.has)]));
      for (const one of changes) apply(rows, map, one);
      const found: [string, number][] = [];
      for (let node = 0; node < NODES + 2; node++) {
        rows.each(node, (other, label) => found.push([`${node} ${other} ${relationOf(label)}`, label]));
      }
      expect(found).toHaveLength(map.size);
      expect(new Map(found)).toEqual(map);
    }),
    { numRuns: 500 },
  );
});

test('rows are worn when as much has changed as half of what they hold, and are made anew', () => {
  const rows = rowsOf([]);
  for (let other = 0; other < 4096; other++) rows.put(1, other, labelOf(0, false));
  expect(rows.isWorn).toBe(false);
  rows.put(2, 7, labelOf(0, false));
  expect(rows.isWorn).toBe(true);
  rows.compact(NODES);
  expect([rows.isWorn, rows.bytes]).toEqual([false, 8 * 4097 + 4 * (NODES + 1)]);
  rows.clear(1);
  expect(rows.isWorn).toBe(false);
  rows.clear(2);
  expect(rows.isWorn).toBe(true);
});
