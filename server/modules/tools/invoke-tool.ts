import type { Logger } from 'pino';
import { LIMITS } from '../../../contract/shared/limits.ts';
import type { RequestContext } from '../../platform/http/index.ts';
import { OutboundError, type Outbound } from '../../platform/net/index.ts';
import type { NewEvent } from '../../platform/outbox/index.ts';
import type { Relay } from '../relay/index.ts';
import { UnbuildableRequest } from './build-failure.ts';
import { buildRequest, type ToolRequest } from './build-request.ts';
import { inputValidator } from './input-schema/index.ts';
import { isDeeperThan } from './json-depth.ts';
import { UnfillablePlaceholder } from './placeholders.ts';
import { redactor } from './redact-secrets.ts';
import { readAnswer, type ReadAnswer } from './read-answer.ts';
import type { ToolBinding, ToolDefinition, ToolFailureReason, ToolOutcome } from './tool-definition.ts';

/** Spec: an http tool has 10 seconds. */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 5 * 1024 * 1024;
/** A larger result is told of in the event, and not repeated there. */
const MAX_EVENT_LENGTH = 256 * 1024;

/** In the middle of a chat that began before. */
const UNINSTALLED = 'The app of this tool is not installed any more.';

export interface ToolCall {
  definition: ToolDefinition;
  input: Record<string, unknown>;
  /** Sent to the tool as `Idempotency-Key`, so that it can tell a repetition. */
  idempotencyKey?: string;
  /** Where parts of the input are secret: the input as it may be told, and the secrets. */
  discretion?: { shownInput: Record<string, unknown>; secrets: readonly string[] };
  /** For trying a tool out: run it although it is disabled. */
  allowDisabled?: boolean;
}

export interface InvokeDependencies {
  outbound: Outbound;
  relay: Pick<Relay, 'call'>;
  /** What the owning app adds to a tool. */
  bindingOf: (definition: ToolDefinition) => Promise<ToolBinding | undefined>;
  /** Resolves when the events are on disk. */
  recordEvents: (events: NewEvent[]) => Promise<void>;
  log: Pick<Logger, 'debug'>;
}

interface Refusal {
  reason: ToolFailureReason;
  error: string;
}

/** Whoever asks looked the tool up among the caller's; a mistake there must not become a call. */
function demandOwn({ caller }: RequestContext, { definition }: ToolCall): void {
  if (definition.developerId === caller.developerId) return;
  throw new Error('A tool of another developer was about to be called.');
}

/** Why a call is not even attempted. */
function refusalOf({ definition, input, allowDisabled = false }: ToolCall): Refusal | undefined {
  const { name, enabled, inputSchema } = definition;
  if (!enabled && !allowDisabled) return { reason: 'disabled', error: `The tool "${name}" is disabled.` };
  const violation = inputValidator(inputSchema)(input);
  return violation === undefined ? undefined : { reason: 'invalid_input', error: violation };
}

/** The request of a call; what the input gets wrong is refused, what the definition does is a failure of the tool. */
function requestOf(
  { definition, input, idempotencyKey }: ToolCall,
  binding: ToolBinding | undefined,
): ToolRequest | Refusal {
  try {
    const request = buildRequest(definition.execution ?? { type: 'http' }, input, binding);
    if (idempotencyKey === undefined) return request;
    return { ...request, headers: { 'idempotency-key': idempotencyKey, ...request.headers } };
  } catch (error) {
    if (error instanceof UnfillablePlaceholder) return { reason: 'invalid_input', error: error.message };
    if (error instanceof UnbuildableRequest) return { reason: 'failed', error: error.message };
    throw error;
  }
}

type Redirects = Pick<Parameters<Outbound['request']>[0], 'redirects' | 'signal'>;

async function send(outbound: Outbound, request: ToolRequest, more: Redirects): Promise<ReadAnswer> {
  const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, ...more };
  try {
    return readAnswer(await outbound.request({ ...request, ...limits }));
  } catch (error) {
    if (error instanceof OutboundError) return { error: error.message };
    throw error;
  }
}

/** A value as events carry it. */
function eventValue(value: unknown): unknown {
  const length = JSON.stringify(value).length;
  return length <= MAX_EVENT_LENGTH ? value : `[left out: ${length} characters]`;
}

function eventOf(
  { caller: { developerId }, depth = 0 }: RequestContext,
  call: ToolCall,
  outcome: ToolOutcome,
): NewEvent {
  const { definition, input, discretion } = call;
  const about = { toolName: definition.name, input: eventValue(discretion?.shownInput ?? input) };
  if (outcome.status === 'error') {
    return { developerId, type: 'tool.failed', data: { ...about, error: outcome.error }, depth };
  }
  const data = { ...about, result: eventValue(outcome.result), elapsed_ms: outcome.elapsedMs };
  return { developerId, type: 'tool.executed', data, depth };
}

/** Says that there was a call, and nothing of what went to and fro. */
function logCall(
  { log }: InvokeDependencies,
  ctx: RequestContext,
  about: { tool: string; outcome: ToolOutcome },
): void {
  const { tool, outcome } = about;
  const reason = outcome.status === 'error' ? { reason: outcome.reason } : {};
  const { requestId, caller } = ctx;
  log.debug(
    {
      requestId,
      developerId: caller.developerId,
      tool,
      status: outcome.status,
      ...reason,
      elapsedMs: outcome.elapsedMs,
    },
    'a tool was called',
  );
}

function outcomeOf(answer: ReadAnswer | Refusal, elapsedMs: number): ToolOutcome {
  if ('reason' in answer) return { status: 'error', ...answer, elapsedMs };
  if ('error' in answer) return { status: 'error', reason: 'failed', error: answer.error, elapsedMs };
  return { status: 'success', result: answer.result, elapsedMs };
}

/** Has a desktop agent run the handler of the tool's name; size and time are limited where the agent is connected. */
async function runHandler(relay: InvokeDependencies['relay'], ctx: RequestContext, call: ToolCall) {
  const { definition, input } = call;
  const { developerId } = ctx.caller;
  const outcome = await relay.call({ developerId, handler: definition.name, input, signal: ctx.signal });
  if (outcome.status === 'error') {
    const { reason, error } = outcome;
    return reason === 'no_agent' ? ({ reason: 'needs_agent', error } as const) : { error };
  }
  const isTooDeep = isDeeperThan(outcome.result, LIMITS.jsonDepth);
  return isTooDeep ? { error: `The result nests deeper than ${LIMITS.jsonDepth} levels.` } : outcome;
}

interface Attempt {
  /** Without secrets. */
  answer: ReadAnswer | Refusal;
  /** Takes out of a value all that was sealed, ordinary words among it, for what is stored and told to others. */
  redact: (value: unknown) => unknown;
}

const asItIs = (value: unknown): unknown => value;

async function answerOf(
  { relay, outbound }: InvokeDependencies,
  ctx: RequestContext,
  { call, binding }: { call: ToolCall; binding: ToolBinding | undefined },
): Promise<ReadAnswer | Refusal> {
  if (call.definition.execution?.type !== 'http') return runHandler(relay, ctx, call);
  const request = requestOf(call, binding);
  if ('reason' in request) return request;
  // Whoever installs an app agrees to the hosts that it calls.
  const redirects = call.definition.installationId === undefined ? 'follow' : 'same-host';
  return send(outbound, request, { redirects, signal: ctx.signal });
}

async function attempt(deps: InvokeDependencies, ctx: RequestContext, call: ToolCall): Promise<Attempt> {
  const { definition } = call;
  const isPinned = definition.installationId !== undefined;
  const isOwned = definition.appId !== undefined || isPinned;
  const binding = isOwned ? await deps.bindingOf(definition) : undefined;
  if (isPinned && binding === undefined) return { answer: { error: UNINSTALLED }, redact: asItIs };
  const answer = await answerOf(deps, ctx, { call, binding });
  const { headers = {}, credentials = {}, secrets = [] } = binding ?? {};
  const ofInput = call.discretion?.secrets ?? [];
  const redact = redactor([...Object.values(headers), ...Object.values(credentials), ...ofInput]);
  if ('error' in answer) return { answer: { ...answer, error: String(redact(answer.error)) }, redact };
  // A service may repeat what it was sent, and from here it would reach models, conversations and steps of runs. A
  // header may also hold a word that results need, such as a media type.
  return { answer: { result: redactor([...secrets, ...ofInput])(answer.result) }, redact };
}

/**
 * The one gate in front of every call of a tool, from chats, tool-call, test, workflows and dashboards alike: the
 * caller's own, enabled, input against schema, outbound rules, time and size limits, event, log. A call that was
 * attempted leaves exactly one event, which is on disk when this resolves; one that was refused before leaves none.
 * Whether the key may ask at all is the route's to say.
 */
export async function invokeTool(deps: InvokeDependencies, ctx: RequestContext, call: ToolCall): Promise<ToolOutcome> {
  demandOwn(ctx, call);
  const startedAt = performance.now();
  const refusal = refusalOf(call);
  const { answer, redact } = refusal ? { answer: refusal, redact: asItIs } : await attempt(deps, ctx, call);
  const elapsedMs = Math.round((performance.now() - startedAt) * 10) / 10;
  const outcome = outcomeOf(answer, elapsedMs);
  logCall(deps, ctx, { tool: call.definition.name, outcome });
  const wasAttempted = outcome.status === 'success' || outcome.reason === 'failed';
  if (wasAttempted) {
    const event = eventOf(ctx, call, outcome);
    const data = Object.entries(event.data).map(([key, value]): [string, unknown] => [key, redact(value)]);
    await deps.recordEvents([{ ...event, data: Object.fromEntries(data) }]);
  }
  return outcome;
}
