import { compare } from './compare.ts';
import { evaluateExpression } from './expression.ts';
import { StepError, type RunNode } from './node-type.ts';
import { optionalText, requiredText } from './read-config.ts';

/** {left, operator, right} or {expression}: true or false. */
export const runCondition: RunNode = (config, step) => {
  const expression = optionalText(config, 'expression');
  if (expression === undefined) {
    return Promise.resolve(compare(config['left'], requiredText(config, 'operator'), config['right']));
  }
  const value = evaluateExpression(expression, step);
  if (typeof value === 'boolean') return Promise.resolve(value);
  throw new StepError('config.expression must come out as true or false.');
};
