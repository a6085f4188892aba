import { createContext, Script } from 'node:vm';
import {
  Environment,
  EvaluationError,
  ParseError,
  TypeError as CelTypeError,
  type ParseResult,
} from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import { containsText } from './contains-text.ts';
import { checkExpression, shownName } from './check-expression.ts';
import { StepError, type StepContext } from './node-type.ts';

const MAX_LENGTH = 4000;
const MAX_PATTERN_LENGTH = 1000;
const MAX_PATTERN_PROGRAM = 2000;
/** Of one evaluation, which nothing else of the process can run beside. */
const TIMEOUT_MS = 250;

/** What CEL keeps for itself as names; a node of such a name is found under `steps`. */
const RESERVED =
  /^(?:as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package|prototype|return|true|var|void|while|__proto__)$/;

function matchesPattern(text: string, pattern: string): boolean {
  if (pattern.length > MAX_PATTERN_LENGTH) throw new StepError('The expression has a pattern that is too long.');
  const compiled = compilePattern(pattern);
  if (compiled.programSize() > MAX_PATTERN_PROGRAM) {
    throw new StepError('The expression has a pattern that is too large.');
  }
  return compiled.test(text);
}

function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new StepError(`The expression has a pattern that RE2 does not read: ${String(error)}`);
  }
}

type Arithmetic = (left: number | bigint, right: number | bigint) => number;

/** Numbers of JSON are doubles and plain literals are ints, between which CEL has comparisons but no arithmetic. */
const ARITHMETIC = new Map<string, Arithmetic>([
  ['+', (left, right) => Number(left) + Number(right)],
  ['-', (left, right) => Number(left) - Number(right)],
  ['*', (left, right) => Number(left) * Number(right)],
  ['/', (left, right) => Number(left) / Number(right)],
  ['%', (left, right) => Number(left) % Number(right)],
]);

function createEnvironment(): Environment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxDepth: 50, maxAstNodes: 1000 },
  });
  for (const [operator, handler] of ARITHMETIC) {
    environment.registerOperator(`double ${operator} int: double`, handler);
    environment.registerOperator(`int ${operator} double: double`, handler);
  }
  environment.registerOperator('double % double: double', (left: number, right: number) => left % right);
  // What checkExpression puts in the place of the library's own.
  environment.registerFunction('string.containsSafely(string): bool', containsText);
  environment.registerFunction('string.matchesSafely(string): bool', matchesPattern);
  return environment.registerVariable('trigger', 'dyn').registerVariable('steps', 'dyn');
}

const BASE = createEnvironment();

/** Where a running evaluation is interrupted when its time is over; the script itself is ours and constant. */
const watched: { run: () => unknown } = createWatched();
const SCRIPT = new Script('run()');

function createWatched(): { run: () => unknown } {
  const sandbox = { run: (): unknown => undefined };
  createContext(sandbox);
  return sandbox;
}

function runWatched(work: () => unknown): unknown {
  watched.run = work;
  try {
    return SCRIPT.runInContext(watched, { timeout: TIMEOUT_MS });
  } finally {
    watched.run = () => undefined;
  }
}

interface Prepared {
  evaluate: ParseResult;
  values: Record<string, unknown>;
}

/** What an expression can name. */
type Values = Pick<StepContext, 'triggerData' | 'results'>;

/** Parses, and gathers what the expression can name: `trigger`, `steps`, and each step by its own name. */
function prepare(expression: string, { triggerData, results }: Values): Prepared {
  if (expression.length > MAX_LENGTH) {
    throw new StepError(`The expression is longer than ${MAX_LENGTH} characters.`);
  }
  const environment = BASE.clone();
  const evaluate = environment.parse(expression);
  const names = checkExpression(evaluate.ast);
  // A map, in which a step may be called constructor.
  const steps = new Map([...results].map(([id, result]) => [id, { result: result ?? null }]));
  const values: Record<string, unknown> = { trigger: { data: triggerData ?? null }, steps };
  for (const name of names) {
    if (!results.has(name) || RESERVED.test(name) || environment.hasVariable(name)) continue;
    environment.registerVariable(name, 'dyn');
    values[name] = steps.get(name);
  }
  return { evaluate, values };
}

function explain(error: unknown): StepError {
  if (error instanceof StepError) return error;
  if (error instanceof ParseError) {
    const at = error.range === undefined ? '' : ` at character ${error.range.start + 1}`;
    return new StepError(`The expression cannot be read${at}: ${error.summary}.`);
  }
  if (error instanceof EvaluationError || error instanceof CelTypeError) {
    return new StepError(`The expression failed: ${shownName(error.summary)}.`);
  }
  // An error of the script's own realm, and so no instance of our Error.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return new StepError('The expression takes too long.');
  // Of the engine: a text that would be too long, a time zone that is none.
  if (error instanceof RangeError) return new StepError(`The expression failed: ${error.message}.`);
  throw error;
}

/**
 * Evaluates a CEL expression over the trigger's data and the results so far. Nothing but own properties of JSON values
 * can be reached, and time and memory are bounded. Throws StepError for whatever does not come to true or false.
 */
export function evaluateExpression(expression: string, step: StepContext): boolean {
  let value: unknown;
  try {
    const { evaluate, values } = prepare(expression, step);
    value = runWatched((): unknown => evaluate(values));
  } catch (error) {
    throw explain(error);
  }
  if (typeof value === 'boolean') return value;
  throw new StepError('The expression must come to true or false; it came to something else.');
}

/** Throws StepError for an expression that would fail wherever the steps named, and no others, have run. */
export function demandExpression(expression: string, steps: ReadonlySet<string>): void {
  try {
    const results = new Map([...steps].map((id) => [id, null]));
    const { valid, type, error } = prepare(expression, { triggerData: null, results }).evaluate.check();
    if (!valid) throw error ?? new StepError('The expression cannot be used.');
    if (type === undefined || type === 'bool' || type.startsWith('dyn')) return;
    throw new StepError(`The expression must come to true or false; it comes to ${type}.`);
  } catch (error) {
    throw new StepError(explain(error).message.replace('The expression failed:', 'The expression would fail:'));
  }
}
