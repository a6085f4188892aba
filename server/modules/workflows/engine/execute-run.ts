import type { WorkflowNode } from '../../../../contract/routes/workflows.ts';
import type { Caller } from '../../../platform/http/index.ts';
import { isSettled, type ClaimedRun, type SettledRecord, type StepRecord } from './checkpoint.store.ts';
import type { Checkpoints } from './checkpoints.ts';
import { nextNodes, type Settled } from './next-nodes.ts';
import { runEndedEvent } from './run-ended-event.ts';
import { runStep, timeUpMessage, type StepTools } from './run-step.ts';
import type { Turns } from './turns.ts';

/** Results of a run together, as JSON text. */
const MAX_RESULTS_LENGTH = 32 * 1024 * 1024;

export interface Execution {
  run: ClaimedRun;
  /** Checkpoints of the run so far. */
  records: readonly StepRecord[];
  /** In whose name it runs; undefined when the developer is switched off. */
  caller: Caller | undefined;
  checkpoints: Checkpoints;
  tools: Omit<StepTools, 'noteRetry'>;
  turns: Turns;
  /** Ends the work: without an outcome, or with a failure when its time is up. */
  signal: AbortSignal;
  /** True when no further step may begin: the process stops. */
  isStopping: () => boolean;
}

/** The run belongs to somebody else. */
class LostRun extends Error {}

class RunExecution {
  readonly #execution: Execution;
  readonly #settled = new Map<string, Settled>();
  readonly #results = new Map<string, unknown>();
  readonly #attempts = new Map<string, number>();
  readonly #records: SettledRecord[] = [];
  readonly #begun = new Set<string>();
  /** Records that are not on disk as far as is known. */
  readonly #unwritten = new Set<StepRecord>();
  /** Steps whose work has begun and whose checkpoint is not written. */
  readonly #underWay = new Set<Promise<void>>();
  /** Of those the ones that have no outcome yet. */
  #executing = 0;
  readonly #nodeIds: ReadonlySet<string>;
  #resultsLength = 0;
  #failure: string | undefined;
  #fault: Error | undefined;

  constructor(execution: Execution) {
    this.#execution = execution;
    this.#nodeIds = new Set(execution.run.definition.nodes.map(({ id }) => id));
    for (const record of execution.records) {
      if (!isSettled(record)) this.#attempts.set(record.nodeId, record.attempts);
      else this.#settle(record, record.result ?? (record.error === null ? null : { error: record.error }));
    }
  }

  /** Works until the run has ended or nothing more may begin. Rejects when it was interrupted. */
  async work(): Promise<void> {
    const { caller, turns } = this.#execution;
    await turns.next();
    if (!caller) this.#failure = 'The developer is switched off.';
    await this.#checkpoint(this.#skip());
    this.#beginReady();
    while (this.#underWay.size > 0) await Promise.race(this.#underWay);
    if (this.#fault) throw this.#fault;
  }

  #settle(record: SettledRecord, result: unknown): void {
    const { nodeId, status } = record;
    this.#begun.add(nodeId);
    this.#records.push(record);
    this.#settled.set(nodeId, { status, result });
    if (status !== 'skipped') this.#results.set(nodeId, result);
    this.#resultsLength += record.size;
    this.#noteTimeUp();
    const node = this.#execution.run.definition.nodes.find(({ id }) => id === nodeId);
    if (status === 'failed' && node?.onError !== 'continue') {
      this.#failure ??= `Step "${nodeId}": ${record.error ?? 'it failed.'}`;
    }
    if (this.#resultsLength > MAX_RESULTS_LENGTH) {
      this.#failure ??= `The results of the run exceed ${MAX_RESULTS_LENGTH / 1024 / 1024} MB.`;
    }
  }

  /** Settles every node that no taken branch leads to. */
  #skip(): SettledRecord[] {
    const { run } = this.#execution;
    const skipped: SettledRecord[] = [];
    if (this.#failure !== undefined) return skipped;
    for (let next = nextNodes(run.definition, this.#settled); next.skipped.length > 0;) {
      const now = new Date().toISOString();
      for (const { id: nodeId } of next.skipped) {
        const about = { developerId: run.developerId, runId: run.id, nodeId, status: 'skipped' as const };
        const record = { ...about, attempts: 0, result: null, size: 0, error: null, startedAt: now, completedAt: now };
        skipped.push(record);
        this.#settle(record, null);
      }
      next = nextNodes(run.definition, this.#settled);
    }
    return skipped;
  }

  #noteTimeUp(): void {
    this.#failure ??= timeUpMessage(this.#execution.signal);
  }

  #ready(): WorkflowNode[] {
    this.#noteTimeUp();
    if (this.#failure !== undefined) return [];
    return nextNodes(this.#execution.run.definition, this.#settled).ready.filter(({ id }) => !this.#begun.has(id));
  }

  #beginReady(): void {
    if (this.#execution.isStopping() || this.#fault) return;
    for (const node of this.#ready()) {
      this.#begun.add(node.id);
      const work = this.#step(node)
        .catch((error: unknown) => {
          this.#fault ??= error instanceof Error ? error : new Error(String(error));
        })
        .finally(() => this.#underWay.delete(work))
        .then(() => undefined);
      this.#underWay.add(work);
    }
  }

  async #step(node: WorkflowNode): Promise<void> {
    const { run, caller, tools, turns, signal } = this.#execution;
    if (!caller) return;
    const scope = { triggerData: run.triggerData, results: this.#results, nodeIds: this.#nodeIds };
    const step = { run, node, scope, caller, attempts: this.#attempts.get(node.id) ?? 0, signal };
    const noteRetry = (record: StepRecord) => this.#save([record]);
    this.#executing++;
    const { record, result } = await runStep(step, { ...tools, noteRetry });
    this.#executing--;
    this.#settle(record, result);
    await this.#checkpoint([record, ...this.#skip()]);
    await turns.next();
    this.#beginReady();
  }

  /** Writes records down, and with the end of the run all that may not be on disk yet: never the one without the other. */
  async #checkpoint(records: readonly StepRecord[]): Promise<void> {
    const isOver = this.#executing === 0 && this.#ready().length === 0;
    if (records.length > 0 || isOver) await this.#save(records, isOver);
  }

  async #save(records: readonly StepRecord[], isOver = false): Promise<void> {
    const { run, checkpoints } = this.#execution;
    const error = this.#failure ?? null;
    const status = error === null ? ('completed' as const) : ('failed' as const);
    const end = { developerId: run.developerId, runId: run.id, status, error };
    for (const record of records) this.#unwritten.add(record);
    const written = isOver ? [...this.#unwritten] : records;
    const ending = isOver && { end: { end, event: runEndedEvent(run, this.#records, error) } };
    if (!(await checkpoints.save({ run, records: written, ...ending }))) throw new LostRun();
    for (const record of written) this.#unwritten.delete(record);
  }
}

/**
 * Works on a run from its last checkpoint until it has ended. What a step came to is on disk before anything that
 * depends on it begins. Resolves early when the process stops; rejects when the run was interrupted or is another's.
 */
export async function executeRun(execution: Execution): Promise<void> {
  try {
    await new RunExecution(execution).work();
  } catch (error) {
    if (!(error instanceof LostRun)) throw error;
  }
}
