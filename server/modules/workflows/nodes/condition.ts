import { compare } from './compare.ts';
import { evaluateExpression } from './expression.ts';
import { StepError, type RunNode, type StepContext } from './node-type.ts';
import { requiredText } from './read-config.ts';

function decide(config: Record<string, unknown>, step: StepContext): boolean {
  if (config['expression'] === undefined) {
    return compare(config['left'], requiredText(config, 'operator'), config['right']);
  }
  if (config['operator'] !== undefined) {
    throw new StepError('config has both an operator and an expression; a condition is one of them.');
  }
  return evaluateExpression(requiredText(config, 'expression'), step);
}

/** {left, operator, right} or {expression}: true or false. The expression is the only text that is not filled before. */
export const runCondition: RunNode = (config, step) => new Promise((resolve) => resolve(decide(config, step)));
