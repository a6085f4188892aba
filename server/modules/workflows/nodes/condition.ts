import { compare } from './compare.ts';
import { evaluateExpression } from './expression.ts';
import { StepError, type RunNode, type StepContext } from './node-type.ts';
import { requiredText } from './read-config.ts';

/** Throws StepError for a condition that is two. */
export function demandOne({ expression, operator }: Record<string, unknown>): void {
  if (expression === undefined || operator === undefined) return;
  throw new StepError('config has both an operator and an expression; a condition is one of them.');
}

function decide(config: Record<string, unknown>, step: StepContext): boolean {
  demandOne(config);
  if (config['expression'] !== undefined) return evaluateExpression(requiredText(config, 'expression'), step);
  return compare(config['left'], requiredText(config, 'operator'), config['right']);
}

/** {left, operator, right} or {expression}: true or false. The expression is the only text that is not filled before. */
export const runCondition: RunNode = (config, step) => new Promise((resolve) => resolve(decide(config, step)));
