import type { WorkflowEdge, WorkflowNode } from '../../../contract/routes/workflows.ts';
import type { Caller } from '../../platform/http/index.ts';
import type { Problem, Structure } from './check-structure.ts';
import { hasReferences, templateProblems } from './engine/check-templates.ts';
import type { NodeChecks } from './nodes/node-checks.ts';

/** Problems, and of those the ones that the operator rather than the author of the workflow can set right. */
export interface ConfigReport {
  problems: Problem[];
  warnings: Problem[];
}

/** The nodes from which edges lead to a node, however far. */
function nodesBefore(id: string, incoming: ReadonlyMap<string, readonly WorkflowEdge[]>): Set<string> {
  const before = new Set<string>();
  const left = [id];
  for (let to = left.pop(); to !== undefined; to = left.pop()) {
    for (const { from } of incoming.get(to) ?? []) {
      if (before.has(from)) continue;
      before.add(from);
      left.push(from);
    }
  }
  return before;
}

interface Place {
  node: WorkflowNode;
  /** Such as `nodes[2].config`. */
  path: string;
  nodeIds: ReadonlySet<string>;
  before: ReadonlySet<string>;
}

async function checkNode({ node, path, nodeIds, before }: Place, checks: NodeChecks, caller: Caller) {
  const config = node.config ?? {};
  // The only text that is not filled: it names its values itself.
  const isFilled = (field: string): boolean => node.type !== 'condition' || field !== 'expression';
  const problems = Object.entries(config).flatMap(([field, value]) => {
    const messages = isFilled(field) ? templateProblems(value, { nodeIds, before }) : [];
    return messages.map((message) => ({ field, message, isWarning: false }));
  });
  const isOpen = (field: string): boolean => isFilled(field) && hasReferences(config[field]);
  problems.push(
    ...(await checks[node.type](config, { caller, before, isOpen })).map((each) => ({ isWarning: false, ...each })),
  );
  return problems.map(({ field, message, isWarning }) => ({
    isWarning,
    problem: { path: field === '' ? path : `${path}.${field}`, message },
  }));
}

/** What the nodes of a workflow would fail on, as far as that can be told before they run. */
export async function configProblems(
  { nodes, edges }: Structure,
  checks: NodeChecks,
  caller: Caller,
): Promise<ConfigReport> {
  const nodeIds = new Set(nodes.map(({ id }) => id));
  const incoming = Map.groupBy(edges, ({ to }) => to);
  const report: ConfigReport = { problems: [], warnings: [] };
  for (const [index, node] of nodes.entries()) {
    const place = { node, path: `nodes[${index}].config`, nodeIds, before: nodesBefore(node.id, incoming) };
    for (const { isWarning, problem } of await checkNode(place, checks, caller)) {
      (isWarning ? report.warnings : report.problems).push(problem);
    }
  }
  return report;
}
