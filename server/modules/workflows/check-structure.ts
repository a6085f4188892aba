import type { Trigger, WorkflowEdge, WorkflowNode } from '../../../contract/routes/workflows.ts';
import { scheduleProblem } from './engine/next-ticks.ts';

const MAX_NODES = 500;

/** What a workflow consists of, as far as its structure goes. */
export interface Structure {
  trigger: Trigger;
  nodes: readonly WorkflowNode[];
  edges: readonly WorkflowEdge[];
}

export interface Problem {
  /** Where it is, such as `edges[0].to`. */
  path: string;
  message: string;
}

function triggerProblems({ type, schedule, timezone = 'UTC', event }: Trigger): Problem[] {
  if (type === 'cron') {
    if (schedule === undefined) return [{ path: 'trigger.schedule', message: 'A cron trigger needs a schedule.' }];
    const message = scheduleProblem({ expression: schedule, timezone });
    return message === undefined ? [] : [{ path: 'trigger.schedule', message }];
  }
  if (type === 'event' && event === undefined) {
    return [{ path: 'trigger.event', message: 'An event trigger needs an event.' }];
  }
  return [];
}

function nodeProblems(nodes: readonly WorkflowNode[]): Problem[] {
  const seen = new Set<string>();
  const problems = nodes.flatMap(({ id }, index): Problem[] => {
    const path = `nodes[${index}].id`;
    if (id === 'trigger') return [{ path, message: 'The id "trigger" stands for the trigger.' }];
    if (seen.has(id)) return [{ path, message: `There are two nodes "${id}".` }];
    seen.add(id);
    return [];
  });
  return nodes.length > MAX_NODES
    ? [{ path: 'nodes', message: `A workflow has at most ${MAX_NODES} nodes.` }, ...problems]
    : problems;
}

function edgeProblems({ nodes, edges }: Structure): Problem[] {
  const types = new Map(nodes.map(({ id, type }) => [id, type]));
  return edges.flatMap(({ from, to, condition }, index): Problem[] => {
    const missing = (['from', 'to'] as const)
      .map((end) => ({ end, id: end === 'from' ? from : to }))
      .filter(({ id }) => !types.has(id))
      .map(({ end, id }) => ({ path: `edges[${index}].${end}`, message: `There is no node "${id}".` }));
    if (missing.length > 0 || condition === undefined || types.get(from) === 'condition') return missing;
    const message = `The node "${from}" is no condition, so its edge to "${to}" cannot have one.`;
    return [{ path: `edges[${index}].condition`, message }];
  });
}

/** The ids along a circle of edges; undefined when there is none. */
function circleOf(edges: readonly WorkflowEdge[]): string[] | undefined {
  const waiting = new Map(Map.groupBy(edges, ({ to }) => to).entries());
  const outgoing = Map.groupBy(edges, ({ from }) => from);
  const counts = new Map([...waiting].map(([id, into]) => [id, into.length]));
  const free = [...outgoing.keys()].filter((id) => !counts.has(id));
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    for (const { to } of outgoing.get(id) ?? []) {
      const left = (counts.get(to) ?? 0) - 1;
      counts.set(to, left);
      if (left === 0) free.push(to);
    }
  }
  const stuck = new Set([...counts].filter(([, left]) => left > 0).map(([id]) => id));
  return stuck.size === 0 ? undefined : walkBack(stuck, waiting);
}

/** Every stuck node has a stuck one before it: going back, one comes around. */
function walkBack(stuck: ReadonlySet<string>, incoming: ReadonlyMap<string, readonly WorkflowEdge[]>): string[] {
  const path: string[] = [];
  let [id = ''] = stuck;
  while (!path.includes(id)) {
    path.push(id);
    id = incoming.get(id)?.find(({ from }) => stuck.has(from))?.from ?? '';
  }
  return [...path.slice(path.indexOf(id)), id].toReversed();
}

/** Everything that makes a workflow impossible to run, whatever its configuration. */
export function structureProblems(structure: Structure): Problem[] {
  const problems = [
    ...triggerProblems(structure.trigger),
    ...nodeProblems(structure.nodes),
    ...edgeProblems(structure),
  ];
  const circle = problems.length === 0 ? circleOf(structure.edges) : undefined;
  return circle ? [{ path: 'edges', message: `The edges go in a circle: ${circle.join(' -> ')}.` }] : problems;
}
