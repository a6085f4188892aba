import type { RequestContext } from '../../platform/http/index.ts';
import { OutboundError, type Outbound } from '../../platform/net/index.ts';
import type { NewEvent } from '../../platform/outbox/index.ts';
import { buildRequest, UnbuildableRequest, type ToolRequest } from './build-request.ts';
import { inputValidator } from './input-schema/compile-schema.ts';
import { MissingParameter } from './placeholders.ts';
import { readAnswer, type ReadAnswer } from './read-answer.ts';
import type { ToolBinding, ToolDefinition, ToolFailureReason, ToolOutcome } from './tool-definition.ts';

/** Spec: an http tool has 10 seconds. */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 5 * 1024 * 1024;
/** A larger result is told of in the event, and not repeated there. */
const MAX_EVENT_LENGTH = 256 * 1024;

export interface ToolCall {
  definition: ToolDefinition;
  input: Record<string, unknown>;
  binding?: ToolBinding;
  /** For trying a tool out: run it although it is disabled. */
  allowDisabled?: boolean;
}

export interface InvokeDependencies {
  outbound: Outbound;
  /** Resolves when the events are on disk. */
  recordEvents: (events: NewEvent[]) => Promise<void>;
}

interface Refusal {
  reason: ToolFailureReason;
  error: string;
}

/** Why a call is not even attempted. */
function refusalOf({ definition, input, allowDisabled = false }: ToolCall): Refusal | undefined {
  const { name, enabled, execution, inputSchema } = definition;
  if (!enabled && !allowDisabled) return { reason: 'disabled', error: `The tool "${name}" is disabled.` };
  const violation = inputValidator(inputSchema)(input);
  if (violation !== undefined) return { reason: 'invalid_input', error: violation };
  if (execution?.type === 'http') return undefined;
  return { reason: 'needs_agent', error: `The tool "${name}" runs on a desktop agent, and none is connected.` };
}

async function send(outbound: Outbound, request: ToolRequest, signal: AbortSignal): Promise<ReadAnswer> {
  const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, redirects: 'follow', signal } as const;
  try {
    return readAnswer(await outbound.request({ ...request, ...limits }));
  } catch (error) {
    if (error instanceof OutboundError) return { error: error.message };
    throw error;
  }
}

async function attempt(outbound: Outbound, call: ToolCall, signal: AbortSignal): Promise<ReadAnswer> {
  const { definition, input, binding } = call;
  try {
    return await send(outbound, buildRequest(definition.execution ?? { type: 'http' }, input, binding), signal);
  } catch (error) {
    if (error instanceof UnbuildableRequest || error instanceof MissingParameter) return { error: error.message };
    throw error;
  }
}

function eventResult(result: unknown): unknown {
  const length = JSON.stringify(result).length;
  return length <= MAX_EVENT_LENGTH ? result : `[left out: the result has ${length} characters]`;
}

function eventOf({ definition, input }: ToolCall, answer: ReadAnswer, elapsedMs: number): NewEvent {
  const { developerId, name: toolName } = definition;
  if ('error' in answer) return { developerId, type: 'tool.failed', data: { toolName, input, error: answer.error } };
  const data = { toolName, input, result: eventResult(answer.result), elapsed_ms: elapsedMs };
  return { developerId, type: 'tool.executed', data };
}

/**
 * The one gate in front of every call of a tool, from chat, tool-call and test alike: enabled, input against schema,
 * outbound rules, time and size limits, event. A call that was attempted leaves exactly one event, which is on disk
 * when this resolves.
 */
export async function invokeTool(deps: InvokeDependencies, ctx: RequestContext, call: ToolCall): Promise<ToolOutcome> {
  const startedAt = performance.now();
  const elapsed = (): number => Math.round((performance.now() - startedAt) * 10) / 10;
  const refusal = refusalOf(call);
  if (refusal) return { status: 'error', ...refusal, elapsedMs: elapsed() };
  const answer = await attempt(deps.outbound, call, ctx.signal);
  const elapsedMs = elapsed();
  await deps.recordEvents([eventOf(call, answer, elapsedMs)]);
  if ('error' in answer) return { status: 'error', reason: 'failed', error: answer.error, elapsedMs };
  return { status: 'success', result: answer.result, elapsedMs };
}
