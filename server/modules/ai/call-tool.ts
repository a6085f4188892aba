import { AppError } from '../../platform/errors/index.ts';
import type { RequestContext } from '../../platform/http/index.ts';
import type { Tools } from '../tools/index.ts';

/** Runs a registered tool for POST /v1/ai/tool-call. */
export async function callTool(
  tools: Tools,
  ctx: RequestContext,
  call: { tool: string; input: Record<string, unknown> },
): Promise<unknown> {
  const definition = await tools.findTool(ctx.caller.developerId, call.tool);
  if (!definition) throw new AppError('NOT_FOUND', `There is no tool named "${call.tool}".`);
  const outcome = await tools.invoke(ctx, { definition, input: call.input });
  if (outcome.status === 'success') return outcome.result;
  switch (outcome.reason) {
    case 'disabled':
    case 'invalid_input':
      throw new AppError('INVALID_REQUEST', outcome.error);
    case 'needs_agent':
      throw new AppError('NOT_FOUND', outcome.error);
    case 'failed':
      throw new AppError('TOOL_FAILED', outcome.error);
  }
}
