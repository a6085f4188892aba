import type { WorkflowEdge, WorkflowNode } from '../../../../contract/routes/workflows.ts';

/** What a run executes. */
export interface Definition {
  nodes: readonly WorkflowNode[];
  edges: readonly WorkflowEdge[];
}

/** What the scheduler knows of a settled step. */
export interface Settled {
  status: 'success' | 'failed' | 'skipped';
  result?: unknown;
}

/** What follows from the steps that are settled. */
export interface Next {
  /** Nodes whose turn it is. */
  ready: WorkflowNode[];
  /** Nodes that no taken branch leads to. */
  skipped: WorkflowNode[];
}

/** Edges by the node that they lead to, which every look at a definition needs: of each list they are gathered once. */
const gathered = new WeakMap<readonly WorkflowEdge[], ReadonlyMap<string, WorkflowEdge[]>>();

function incomingOf(edges: readonly WorkflowEdge[]): ReadonlyMap<string, WorkflowEdge[]> {
  const known = gathered.get(edges);
  if (known) return known;
  const incoming = Map.groupBy(edges, ({ to }) => to);
  gathered.set(edges, incoming);
  return incoming;
}

/** Whether a settled step sends its run along an edge. */
function isTaken({ condition }: WorkflowEdge, { status, result }: Settled): boolean {
  if (status === 'skipped') return false;
  if (condition === undefined) return true;
  return status === 'success' && result === (condition === 'true');
}

/**
 * The nodes that can be settled now: one runs when all its incoming edges are settled and one of them is taken (or it has
 * none), and is skipped when none is. A pure function of what is settled, so a run continues from any checkpoint.
 */
export function nextNodes({ nodes, edges }: Definition, settled: ReadonlyMap<string, Settled>): Next {
  const incoming = incomingOf(edges);
  const next: Next = { ready: [], skipped: [] };
  for (const node of nodes) {
    if (settled.has(node.id)) continue;
    const into = incoming.get(node.id) ?? [];
    if (into.some(({ from }) => !settled.has(from))) continue;
    const isReached = into.length === 0 || into.some((edge) => isReachedBy(edge, settled));
    (isReached ? next.ready : next.skipped).push(node);
  }
  return next;
}

function isReachedBy(edge: WorkflowEdge, settled: ReadonlyMap<string, Settled>): boolean {
  const source = settled.get(edge.from);
  return source !== undefined && isTaken(edge, source);
}
