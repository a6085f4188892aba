import type { ASTNode } from '@marcbachmann/cel-js';
import { StepError } from './node-type.ts';

/** Loops inside loops multiply. */
const MAX_NESTED_LOOPS = 2;
/** Each can put two texts or lists together, of megabytes. */
const MAX_ADDITIONS = 20;

const LOOPS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
const FUNCTIONS = new Set([
  'bool',
  'double',
  'duration',
  'dyn',
  'has',
  'int',
  'size',
  'string',
  'timestamp',
  'type',
  'uint',
]);
const METHODS = new Set([
  ...LOOPS,
  'contains',
  'endsWith',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getFullYear',
  'getHours',
  'getMilliseconds',
  'getMinutes',
  'getMonth',
  'getSeconds',
  'lowerAscii',
  'matches',
  'size',
  'startsWith',
  'substring',
  'trim',
  'upperAscii',
]);

/** Methods of the library whose time is not linear and cannot be cut, and ours in their place. */
const REPLACED = new Map([
  ['contains', 'containsSafely'],
  ['matches', 'matchesSafely'],
]);

/** A message of the library with the names that the user wrote. */
export function shownName(message: string): string {
  return message.replaceAll(/\b(contains|matches)Safely\b/g, '$1');
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  if (node.op === 'value' || node.op === 'id') return [];
  if (node.op === '.' || node.op === '.?') return [node.args[0]];
  if (node.op === '!_' || node.op === '-_') return [node.args];
  if (node.op === 'call') return node.args[1];
  if (node.op === 'rcall') return [node.args[1], ...node.args[2]];
  return node.op === 'map' ? node.args.flat() : node.args;
}

interface Findings {
  names: Set<string>;
  additions: number;
}

function checkName(name: string, allowed: ReadonlySet<string>): void {
  if (allowed.has(name)) return;
  throw new StepError(`The expression calls ${name}, which there is not: ${[...allowed].toSorted().join(', ')}.`);
}

/** Checks one node, and gives how many loops its children are in. */
function checkNode(node: ASTNode, loops: number, findings: Findings): number {
  if (node.op === 'id') findings.names.add(node.args);
  if (node.op === '+' && ++findings.additions > MAX_ADDITIONS) {
    throw new StepError(`The expression has more than ${MAX_ADDITIONS} additions.`);
  }
  if (node.op === 'call') {
    const [name, args] = node.args;
    checkName(name, FUNCTIONS);
    // The library's parser of durations is slow for texts that are long.
    if (name === 'duration' && args[0]?.op !== 'value') {
      throw new StepError('The expression may call duration only with a literal, such as duration("1h").');
    }
  }
  if (node.op !== 'rcall') return loops;
  const [name] = node.args;
  checkName(name, METHODS);
  node.args[0] = REPLACED.get(name) ?? name;
  if (!LOOPS.has(name)) return loops;
  if (loops === MAX_NESTED_LOOPS) {
    throw new StepError(`The expression nests loops (all, exists, map, ...) more than ${MAX_NESTED_LOOPS} deep.`);
  }
  return loops + 1;
}

/**
 * Looks through a parsed expression for what could make it costly, puts our own methods in the place of some of the
 * library's, and gives the names that it uses. Throws StepError. Recursion is bounded by the parser's depth.
 */
export function checkExpression(root: ASTNode): ReadonlySet<string> {
  const findings: Findings = { names: new Set(), additions: 0 };
  const visit = (node: ASTNode, loops: number): void => {
    const inner = checkNode(node, loops, findings);
    for (const child of childrenOf(node)) visit(child, inner);
  };
  visit(root, 0);
  return findings.names;
}
