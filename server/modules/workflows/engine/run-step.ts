import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeType, WorkflowNode } from '../../../../contract/routes/workflows.ts';
import { AppError } from '../../../platform/errors/index.ts';
import type { Caller } from '../../../platform/http/index.ts';
import { StepError, type RunNode } from '../nodes/node-type.ts';
import type { ClaimedRun, SettledRecord, StepRecord } from './checkpoint.store.ts';
import { fillTemplates, TemplateError, type Scope } from './fill-templates.ts';

/** Of one result, as JSON text. */
const MAX_RESULT_LENGTH = 8 * 1024 * 1024;
/** Levels of lists and objects in one result; PostgreSQL reads some thousands. */
const MAX_RESULT_DEPTH = 500;
const MAX_PAUSE_MS = 3_600_000;

/** Aborts the steps of a run that has taken too long: they have failed, and so has the run. */
export class RunTimeUp extends Error {}

/** What is said of a run whose time is up; undefined while it is not. */
export function timeUpMessage({ aborted, reason }: AbortSignal): string | undefined {
  return aborted && reason instanceof RunTimeUp ? reason.message : undefined;
}

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
  record: SettledRecord;
  /** What references to the step give; for a failed one what it left, or its error. */
  result: unknown;
}

function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isNestedDeeper(item, levels - 1));
}

/** Expressions name their values themselves, so that no value becomes a part of one. */
function filledConfig({ node, scope }: Step): Record<string, unknown> {
  const { expression, ...config } = node.config ?? {};
  const filled = Object.fromEntries(Object.entries(config).map(([key, value]) => [key, fillTemplates(value, scope)]));
  if (expression === undefined) return filled;
  return { ...filled, expression: node.type === 'condition' ? expression : fillTemplates(expression, scope) };
}

/** What an attempt gave, and how many characters of JSON that is. */
interface Given {
  result: unknown;
  size: number;
}

async function attempt(step: Step, tools: StepTools, signal: AbortSignal): Promise<Given> {
  const { run, node, scope, caller, attempts } = step;
  const attemptId = `${run.id}:${node.id}:${attempts + 1}`;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    signal.throwIfAborted();
    const work = tools.nodeTypes[node.type](filledConfig(step), {
      ctx: { requestId: attemptId, caller, signal, depth: run.depth + 1 },
      attemptId,
      triggerData: scope.triggerData,
      results: scope.results,
    });
    const result = (await Promise.race([work, aborted])) ?? null;
    if (isNestedDeeper(result, MAX_RESULT_DEPTH)) throw new StepError('The result is nested too deeply.');
    const size = JSON.stringify(result).length;
    if (size > MAX_RESULT_LENGTH) throw new StepError(`The result is too large: ${size} characters of JSON.`);
    return { result, size };
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** What a failed attempt has for a result: that of some failures, unless it is too much. */
function leftBehind(error: unknown): Given {
  const result = error instanceof StepError ? (error.result ?? null) : null;
  if (isNestedDeeper(result, MAX_RESULT_DEPTH)) return { result: null, size: 4 };
  const size = JSON.stringify(result).length;
  return size > MAX_RESULT_LENGTH ? { result: null, size: 4 } : { result, size };
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
    const record = (status: SettledRecord['status'], facts: Given & { error: string | null }): SettledRecord => ({
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
      const given = await attempt({ ...step, attempts: attempts - 1 }, tools, ends);
      return { record: record('success', { ...given, error: null }), result: given.result };
    } catch (error) {
      const timeUp = timeUpMessage(signal);
      if (timeUp === undefined) signal.throwIfAborted();
      const tooLong = timeout?.aborted ? `The step took longer than ${node.timeoutMs} ms.` : undefined;
      const message = timeUp ?? tooLong ?? messageOf(error, tools);
      const left = leftBehind(error);
      const isFinal = timeUp !== undefined || error instanceof TemplateError || attempts >= (node.retry?.attempts ?? 1);
      const failed = record('failed', { ...left, error: message });
      if (isFinal) return { record: failed, result: left.result ?? { error: message } };
      await tools.noteRetry({ ...failed, status: 'retrying' });
      // The next attempt ends at once when the time is up.
      await sleep(pauseMs(node, attempts), undefined, { signal }).catch((error_: unknown) => {
        if (timeUpMessage(signal) === undefined) throw error_;
      });
    }
  }
}
