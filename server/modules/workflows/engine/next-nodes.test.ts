import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WorkflowEdge, WorkflowNode } from '../../../../contract/routes/workflows.ts';
import { nextNodes, type Definition, type Settled } from './next-nodes.ts';

const node = (id: string, type: WorkflowNode['type'] = 'http-request'): WorkflowNode => ({ id, type });

function ids({ nodes, edges }: Definition, settled: Record<string, Settled>) {
  const { ready, skipped } = nextNodes({ nodes, edges }, new Map(Object.entries(settled)));
  return { ready: ready.map(({ id }) => id), skipped: skipped.map(({ id }) => id) };
}

const BRANCHES: Definition = {
  nodes: [node('if', 'condition'), node('yes'), node('no'), node('after'), node('join')],
  edges: [
    { from: 'if', to: 'yes', condition: 'true' },
    { from: 'if', to: 'no', condition: 'false' },
    { from: 'no', to: 'after' },
    { from: 'yes', to: 'join' },
    { from: 'after', to: 'join' },
  ],
};
const success = (result?: unknown): Settled => ({ status: 'success', result });

test('nodes without incoming edges come first', () => {
  expect(ids(BRANCHES, {})).toEqual({ ready: ['if'], skipped: [] });
});

test('of two branches one is taken and the other skipped, node by node', () => {
  const begun = { if: success(true) };
  expect(ids(BRANCHES, begun)).toEqual({ ready: ['yes'], skipped: ['no'] });
  const skipping = { ...begun, no: { status: 'skipped' as const } };
  expect(ids(BRANCHES, skipping)).toEqual({ ready: ['yes'], skipped: ['after'] });
});

test('a join waits for all its edges and runs when one was taken', () => {
  const settled = { if: success(true), no: { status: 'skipped' as const }, after: { status: 'skipped' as const } };
  expect(ids(BRANCHES, settled).ready).toEqual(['yes']);
  expect(ids(BRANCHES, { ...settled, yes: success() }).ready).toEqual(['join']);
});

test('a condition that failed takes neither of its branches', () => {
  expect(ids(BRANCHES, { if: { status: 'failed' } })).toEqual({ ready: [], skipped: ['yes', 'no'] });
});

test('a step that failed and goes on takes its plain edges', () => {
  const line = { nodes: [node('a'), node('b')], edges: [{ from: 'a', to: 'b' }] };
  expect(ids(line, { a: { status: 'failed' } }).ready).toEqual(['b']);
});

/** Graphs without circles: edges only lead to later nodes. */
const graphs = fc.integer({ min: 1, max: 12 }).chain((size) => {
  const edge = fc
    .tuple(fc.nat(size - 1), fc.nat(size - 1), fc.option(fc.constantFrom('true' as const, 'false' as const)))
    .filter(([from, to]) => from < to)
    .map(([from, to, condition]): WorkflowEdge => ({
      from: String(from),
      to: String(to),
      ...(condition !== null && { condition }),
    }));
  const edges = size === 1 ? fc.constant([]) : fc.array(edge, { maxLength: 30 });
  return edges.map((list): Definition => ({
    nodes: Array.from({ length: size }, (_, i) => node(String(i), 'condition')),
    edges: list,
  }));
});

/** Settles every node, each time the ready one that `pick` chooses. */
function settleAll(
  definition: Definition,
  results: readonly boolean[],
  pick: (count: number) => number,
): Map<string, Settled> {
  const settled = new Map<string, Settled>();
  for (;;) {
    const { ready, skipped } = nextNodes(definition, settled);
    for (const { id } of skipped) settled.set(id, { status: 'skipped' });
    const next = ready[pick(ready.length)];
    if (next) settled.set(next.id, success(results[Number(next.id)]));
    if (ready.length === 0 && skipped.length === 0) return settled;
  }
}

test('whatever the order in which steps end, every node is settled once and with the same status', () => {
  fc.assert(
    fc.property(
      graphs,
      fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
      fc.nat(),
      (definition, results, seed) => {
        const first = settleAll(definition, results, () => 0);
        let state = seed;
        const other = settleAll(definition, results, (count) => {
          state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
          return count === 0 ? 0 : state % count;
        });
        expect(first.size).toBe(definition.nodes.length);
        expect(Object.fromEntries(other)).toEqual(Object.fromEntries(first));
      },
    ),
  );
});

test('a node never becomes ready before all that leads to it is settled', () => {
  fc.assert(
    fc.property(graphs, fc.array(fc.nat(11)), (definition, done) => {
      const settled = new Map(done.map((id) => [String(id), success(true)]));
      for (const { id } of nextNodes(definition, settled).ready) {
        expect(definition.edges.filter(({ to }) => to === id).every(({ from }) => settled.has(from))).toBe(true);
      }
    }),
  );
});
