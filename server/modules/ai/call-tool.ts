import type { ErrorCode } from '../../../contract/shared/errors.ts';
import { AppError } from '../../platform/errors/index.ts';
import type { RequestContext } from '../../platform/http/index.ts';
import type { Tools } from '../tools/index.ts';

/** How each way to fail is told: what the caller got wrong, what is not there, what went wrong at the tool. */
const CODES = {
  disabled: 'INVALID_REQUEST',
  invalid_input: 'INVALID_REQUEST',
  needs_agent: 'NOT_FOUND',
  failed: 'TOOL_FAILED',
} as const satisfies Record<string, ErrorCode>;

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
  throw new AppError(CODES[outcome.reason], outcome.error);
}
