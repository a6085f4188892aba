/** A reference that cannot be resolved; the message names it. */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateError';
  }
}

/** What references can name. */
export interface Scope {
  triggerData: unknown;
  /** Results of the steps that have run, by node id. */
  results: ReadonlyMap<string, unknown>;
  /** Every node of the workflow. */
  nodeIds: ReadonlySet<string>;
}

const MAX_DEPTH = 100;
/** A reference, or a brace pair that is meant literally: `\{{`. */
export const TOKEN = /\\\{\{|\{\{([^{}]*)\}\}/g;
const WHOLE = /^\{\{([^{}]*)\}\}$/;
/** `.name`, `[3]` or `["any name"]`, one after the other. */
const SEGMENT = /\.([^.[\]\s]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

export function segmentsOf(path: string, reference: string): string[] {
  const segments: string[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < path.length) {
    const match = SEGMENT.exec(path);
    if (!match) throw new TemplateError(`{{${reference}}} is not a path: write a.b, a[0] or a["b c"].`);
    const [, name, index, quoted] = match;
    segments.push(quoted === undefined ? (name ?? index ?? '') : unquote(quoted, reference));
  }
  return segments;
}

function unquote(quoted: string, reference: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw new TemplateError(`{{${reference}}} holds a name that is not well-formed.`);
  }
}

/** The value at a path of own properties; null where there is none. Nothing is ever called or evaluated. */
function valueAt(root: unknown, segments: readonly string[]): unknown {
  let value = root;
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return null;
    // The length of a list is its own property, but not a part of its JSON.
    if (Array.isArray(value) && !/^\d+$/.test(segment)) return null;
    value = Reflect.get(value, segment);
  }
  return value ?? null;
}

/** The node that a reference names; ids may hold dots, so the longest that fits. */
export function nodeOf(reference: string, { nodeIds }: Pick<Scope, 'nodeIds'>): string | undefined {
  let found: string | undefined;
  for (const id of nodeIds) {
    const fits = reference.startsWith(`${id}.result`) && /^(?:$|[.[])/.test(reference.slice(id.length + 7));
    if (fits && id.length > (found?.length ?? -1)) found = id;
  }
  return found;
}

export function isTriggerData(reference: string): boolean {
  return /^trigger\.data(?:$|[.[])/.test(reference);
}

function resolve(given: string, scope: Scope): unknown {
  const reference = given.trim();
  const node = nodeOf(reference, scope);
  if (node !== undefined) {
    if (!scope.results.has(node)) throw new TemplateError(`{{${reference}}}: the step "${node}" has not run.`);
    return valueAt(scope.results.get(node), segmentsOf(reference.slice(node.length + '.result'.length), reference));
  }
  if (isTriggerData(reference)) {
    return valueAt(scope.triggerData, segmentsOf(reference.slice('trigger.data'.length), reference));
  }
  throw new TemplateError(unknownReference(reference));
}

export function unknownReference(reference: string): string {
  const [named = ''] = reference.split('.result', 1);
  return reference.includes('.result') && named !== 'trigger'
    ? `{{${reference}}}: there is no step "${named}".`
    : `{{${reference}}} names nothing: write {{trigger.data}} or {{<nodeId>.result}}, with a path into it.`;
}

function textOf(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function fillText(text: string, scope: Scope): unknown {
  const whole = WHOLE.exec(text);
  if (whole) return resolve(whole[1] ?? '', scope);
  return text.replace(TOKEN, (token, reference?: string) =>
    reference === undefined ? '{{' : textOf(resolve(reference, scope)),
  );
}

/**
 * Fills the references in every text of a value. A text that is one reference becomes the value it names, of whatever
 * type; among other text, texts stand as they are, null is empty, anything else is its JSON. `\{{` is a literal `{{`.
 * What is filled in is never looked at again. Throws TemplateError.
 */
export function fillTemplates(value: unknown, scope: Scope, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new TemplateError('The configuration is nested too deeply.');
  if (typeof value === 'string') return fillText(value, scope);
  if (Array.isArray(value)) return value.map((item) => fillTemplates(item, scope, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillTemplates(item, scope, depth + 1)]));
}
