import { isTriggerData, nodeOf, segmentsOf, TemplateError, TOKEN, unknownReference } from './fill-templates.ts';

/** What can be referred to. */
export interface Known {
  nodeIds: ReadonlySet<string>;
  /** Of these the ones that come before the node in question. */
  before: ReadonlySet<string>;
}

const MAX_DEPTH = 100;

function referencesIn(text: string): string[] {
  return [...text.matchAll(TOKEN)].flatMap(([, reference]) => (reference === undefined ? [] : [reference.trim()]));
}

/** Whether a value is known only when the step runs. */
export function hasReferences(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return referencesIn(value).length > 0;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  return Object.values(value).some((item) => hasReferences(item, depth + 1));
}

function referenceProblem(reference: string, { nodeIds, before }: Known): string | undefined {
  const node = nodeOf(reference, { nodeIds });
  if (node === undefined && !isTriggerData(reference)) return unknownReference(reference);
  if (node !== undefined && !before.has(node)) {
    return `{{${reference}}}: no edges lead from the step "${node}" to this one, so it may not have run.`;
  }
  try {
    segmentsOf(reference.slice(node === undefined ? 'trigger.data'.length : node.length + '.result'.length), reference);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

/** What is wrong with the references in every text of a value. */
export function templateProblems(value: unknown, known: Known, depth = 0): string[] {
  if (typeof value === 'string') return referencesIn(value).flatMap((each) => referenceProblem(each, known) ?? []);
  if (typeof value !== 'object' || value === null) return [];
  if (depth > MAX_DEPTH) return ['The configuration is nested too deeply.'];
  return Object.values(value).flatMap((item) => templateProblems(item, known, depth + 1));
}
