import { expect, test } from 'vitest';
import { structureProblems, type Structure } from './check-structure.ts';

const FINE: Structure = {
  trigger: { type: 'manual' },
  nodes: [
    { id: 'a', type: 'condition' },
    { id: 'b', type: 'http-request' },
    { id: 'c', type: 'http-request' },
  ],
  edges: [
    { from: 'a', to: 'b', condition: 'true' },
    { from: 'b', to: 'c' },
  ],
};

function paths(change: Partial<Structure>): [string, string][] {
  return structureProblems({ ...FINE, ...change }).map(({ path, message }) => [path, message]);
}

test('a sound workflow has no problem, nor has an empty one', () => {
  expect(paths({})).toEqual([]);
  expect(paths({ nodes: [], edges: [] })).toEqual([]);
});

test.each<[string, Partial<Structure>, string, string]>([
  ['an edge into nothing', { edges: [{ from: 'a', to: 'x' }] }, 'edges[0].to', 'There is no node "x".'],
  ['an edge out of nothing', { edges: [{ from: 'x', to: 'a' }] }, 'edges[0].from', 'There is no node "x".'],
  ['an edge to itself', { edges: [{ from: 'b', to: 'b' }] }, 'edges', 'The edges go in a circle: b -> b.'],
  [
    'a circle',
    {
      edges: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'c' },
        { from: 'c', to: 'b' },
      ],
    },
    'edges',
    'The edges go in a circle:',
  ],
  [
    'a condition on a plain edge',
    { edges: [{ from: 'b', to: 'c', condition: 'true' }] },
    'edges[0].condition',
    'is no condition',
  ],
  ['two nodes of one id', { nodes: [...FINE.nodes, { id: 'a', type: 'condition' }] }, 'nodes[3].id', 'two nodes "a"'],
  [
    'a node named trigger',
    { nodes: [...FINE.nodes, { id: 'trigger', type: 'condition' }] },
    'nodes[3].id',
    'stands for the trigger',
  ],
  ['cron without a schedule', { trigger: { type: 'cron' } }, 'trigger.schedule', 'needs a schedule'],
  ['a broken schedule', { trigger: { type: 'cron', schedule: 'often' } }, 'trigger.schedule', 'cron expression'],
  [
    'a wrong time zone',
    { trigger: { type: 'cron', schedule: '* * * * *', timezone: 'X' } },
    'trigger.schedule',
    'time zone',
  ],
  ['event without an event', { trigger: { type: 'event' } }, 'trigger.event', 'needs an event'],
])('%s is told with its place', (_name, change, path, message) => {
  const [problem] = paths(change);
  expect(problem?.[0]).toBe(path);
  expect(problem?.[1]).toContain(message);
});

test('more than 500 nodes are too many', () => {
  const nodes = Array.from({ length: 501 }, (_, i) => ({ id: `n${i}`, type: 'condition' as const }));
  expect(paths({ nodes, edges: [] })).toEqual([['nodes', 'A workflow has at most 500 nodes.']]);
});
