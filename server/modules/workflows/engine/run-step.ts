import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeType, WorkflowNode } from '../../../../contract/routes/workflows.ts';
import { AppError } from '../../../platform/errors/index.ts';
import type { Caller } from '../../../platform/http/index.ts';
import { StepError, type RunNode } from '../nodes/node-type.ts';
import type { ClaimedRun, StepRecord } from './checkpoint.store.ts';
import { fillTemplates, TemplateError, type Scope } from './fill-templates.ts';

/** Of one result, as JSON text. */
const MAX_RESULT_LENGTH = 8 * 1024 * 1024;
const MAX_PAUSE_MS = 3_600_000;

/** A step whose turn has come. */
export interface Step {
  run: ClaimedRun;
  node: WorkflowNode;
  scope: Scope;
  caller: Caller;
  /** Attempts that failed before, in this process or another. */
  attempts: number;
  /** Ends the attempt without an outcome: the run was stopped, cancelled or taken away. */
  signal: AbortSignal;
}

export interface StepTools {
  nodeTypes: Record<NodeType, RunNode>;
  /** Told of a failed attempt that is followed by another; resolves when it is on disk. */
  noteRetry: (record: StepRecord) => Promise<void>;
  /** Told of what is no failure of the user's making. */
  onFault: (error: unknown) => void;
}

/** What a step came to. */
export interface StepOutcome {
  record: StepRecord;
  /** What references to the step give; for a failed one what it left, or its error. */
  result: unknown;
}

/** Expressions name their values themselves, so that no value becomes a part of one. */
function filledConfig({ node, scope }: Step): Record<string, unknown> {
  const { expression, ...config } = node.config ?? {};
  const filled = Object.fromEntries(Object.entries(config).map(([key, value]) => [key, fillTemplates(value, scope)]));
  if (expression === undefined) return filled;
  return { ...filled, expression: node.type === 'condition' ? expression : fillTemplates(expression, scope) };
}

async function attempt(step: Step, tools: StepTools, signal: AbortSignal): Promise<unknown> {
  const { run, node, scope, caller, attempts } = step;
  const attemptId = `${run.id}:${node.id}:${attempts + 1}`;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const work = tools.nodeTypes[node.type](filledConfig(step), {
      ctx: { requestId: attemptId, caller, signal, depth: run.depth + 1 },
      attemptId,
      triggerData: scope.triggerData,
      results: scope.results,
    });
    const result = (await Promise.race([work, aborted])) ?? null;
    const { length } = JSON.stringify(result);
    if (length > MAX_RESULT_LENGTH) throw new StepError(`The result is too large: ${length} characters of JSON.`);
    return result;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** What the user is told of a failure. */
function messageOf(error: unknown, tools: StepTools): string {
  if (error instanceof StepError || error instanceof TemplateError || error instanceof AppError) return error.message;
  tools.onFault(error);
  return 'The step failed for a fault of the service.';
}

function pauseMs(node: WorkflowNode, attempts: number): number {
  return Math.min(MAX_PAUSE_MS, (node.retry?.backoffMs ?? 1000) * 2 ** (attempts - 1));
}

/**
 * Attempts a step as often as its retry allows. Rejects only when `signal` ends it; a failure is an outcome.
 */
export async function runStep(step: Step, tools: StepTools): Promise<StepOutcome> {
  const { run, node, signal } = step;
  const about = { developerId: run.developerId, runId: run.id, nodeId: node.id };
  for (let attempts = step.attempts + 1; ; attempts++) {
    const startedAt = new Date().toISOString();
    const record = (status: StepRecord['status'], facts: { result: unknown; error: string | null }): StepRecord => ({
      ...about,
      status,
      attempts,
      ...facts,
      startedAt,
      completedAt: new Date().toISOString(),
    });
    const timeout = node.timeoutMs === undefined ? undefined : AbortSignal.timeout(node.timeoutMs);
    try {
      const ends = timeout ? AbortSignal.any([signal, timeout]) : signal;
      const result = await attempt({ ...step, attempts: attempts - 1 }, tools, ends);
      return { record: record('success', { result, error: null }), result };
    } catch (error) {
      signal.throwIfAborted();
      const message = timeout?.aborted ? `The step took longer than ${node.timeoutMs} ms.` : messageOf(error, tools);
      const left = error instanceof StepError ? error.result : undefined;
      const isFinal = error instanceof TemplateError || attempts >= (node.retry?.attempts ?? 1);
      const failed = { result: left ?? null, error: message };
      if (isFinal) return { record: record('failed', failed), result: left ?? { error: message } };
      await tools.noteRetry(record('retrying', failed));
      await sleep(pauseMs(node, attempts), undefined, { signal });
    }
  }
}
