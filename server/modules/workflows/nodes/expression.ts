import { Environment } from '@marcbachmann/cel-js';
import { errorMessage } from '../../../platform/errors/index.ts';
import { StepError, type StepContext } from './node-type.ts';

const MAX_LENGTH = 4000;
/** Items that the expression may look at; one is some 0.3 µs, and nothing else runs meanwhile. */
const MAX_VISITS = 200_000;
const MACROS = /\.\s*(?:all|exists|exists_one|filter|map)\s*\(/g;
const IDENTIFIER = /^[A-Za-z_]\w*$/;

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 500, maxDepth: 30, maxListElements: 200, maxMapEntries: 200, maxCallArguments: 16 },
});

/** A JSON value as CEL sees it: whole numbers are ints, so that they go with literals. Notes the longest list. */
function celValue(value: unknown, longest: { length: number }): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    longest.length = Math.max(longest.length, value.length);
    return value.map((item) => celValue(item, longest));
  }
  const entries = Object.entries(value);
  longest.length = Math.max(longest.length, entries.length);
  return Object.fromEntries(entries.map(([key, item]) => [key, celValue(item, longest)]));
}

function contextOf({ triggerData, results }: StepContext, longest: { length: number }): Record<string, unknown> {
  const steps = Object.fromEntries([...results].map(([id, result]) => [id, { result: celValue(result, longest) }]));
  const named = Object.fromEntries(Object.entries(steps).filter(([id]) => IDENTIFIER.test(id)));
  return { ...named, steps, trigger: { data: celValue(triggerData, longest) } };
}

/**
 * The value of a CEL expression over `trigger.data`, `steps["id"].result` and, for plain ids, `id.result`. CEL has no
 * loops, and no way out of its data. Throws StepError.
 */
export function evaluateExpression(expression: string, step: StepContext): unknown {
  if (expression.length > MAX_LENGTH) throw new StepError(`config.expression is longer than ${MAX_LENGTH} characters.`);
  const longest = { length: 1 };
  const context = contextOf(step, longest);
  const macros = [...expression.matchAll(MACROS)].length;
  if (longest.length ** macros > MAX_VISITS) throw new StepError('config.expression would look at too many items.');
  try {
    return environment.evaluate(expression, context);
  } catch (error) {
    const [reason = ''] = errorMessage(error).split('\n', 1);
    throw new StepError(`config.expression cannot be evaluated: ${reason}`);
  }
}
