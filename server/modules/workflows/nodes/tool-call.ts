import type { Tools } from '../../tools/index.ts';
import { StepError, type RunNode } from './node-type.ts';
import { optionalObject, requiredText } from './read-config.ts';

/** {tool, input}: the result of a registered tool, called through the same gate as everywhere. */
export function createToolCall(tools: Tools): RunNode {
  return async (config, { ctx, attemptId }) => {
    const name = requiredText(config, 'tool');
    const definition = await tools.findTool(ctx.caller.developerId, name);
    if (!definition) throw new StepError(`There is no tool named "${name}".`);
    const input = optionalObject(config, 'input') ?? {};
    const outcome = await tools.invoke(ctx, { definition, input, idempotencyKey: attemptId });
    if (outcome.status === 'error') throw new StepError(outcome.error);
    return outcome.result;
  };
}
