import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { NodeType, Run, Trigger, WorkflowEdge, WorkflowNode } from '../../contract/routes/workflows.ts';
import { openDatabase, type Database } from '../platform/db/index.ts';
import { AppError } from '../platform/errors/index.ts';
import { createOutboxRelay, type EventListener } from '../platform/outbox/index.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import type { RunNode, StepContext } from '../modules/workflows/nodes/node-type.ts';
import { readRun } from '../modules/workflows/read-runs.ts';
import { newRun } from '../modules/workflows/new-run.ts';
import type { WorkflowRow } from '../modules/workflows/workflow.store.ts';
import { createWorkflows, type Workflows, type WorkflowWork } from '../modules/workflows/workflows.ts';
import { createWorkflow } from '../modules/workflows/write-workflow.ts';

// Workflows on a database of their own whose nodes do what a test says. For the tests of the engine.

export const DEVELOPER = 'dev_1';
const TIMEOUT_MS = 20_000;
const SETTINGS = { RUN_HISTORY_DAYS: 30, RUN_HISTORY_MB: 1000, RUN_MAX_MINUTES: 60 };
const log = pino({ level: 'silent' });

const findNothing = (): [] => [];

/** What a node does; gives its result. */
export type Act = (step: StepContext, config: Record<string, unknown>) => unknown;

export class WorkflowBench {
  readonly home: TestDatabase;
  readonly db: Database;
  /** What each node does, by its id; nodes without an entry give their id. */
  acts: Record<string, Act> = {};
  /** Ids of the attempts that began, in order. */
  readonly begun: string[] = [];
  readonly #undo: (() => Promise<void>)[] = [];

  private constructor(home: TestDatabase) {
    this.home = home;
    this.db = openDatabase({ url: home.url, maxConnections: 8, applicationName: 'test', onError: () => undefined });
  }

  static async open(): Promise<WorkflowBench> {
    return new WorkflowBench(await createTestDatabase());
  }

  async close(): Promise<void> {
    for (const step of this.#undo.toReversed()) await step();
    await this.db.close();
    await this.home.drop();
  }

  /** Workflows of a process that does not work on runs. */
  workflows(change: Partial<typeof SETTINGS> = {}): Workflows {
    const runNode: RunNode = async (config, step) => {
      this.begun.push(step.attemptId);
      const [, id = ''] = step.attemptId.split(':');
      const act = this.acts[id];
      return act ? await act(step, config) : id;
    };
    const nodeTypes: Record<NodeType, RunNode> = {
      'ai-generate': runNode,
      'tool-call': runNode,
      'http-request': runNode,
      condition: runNode,
      'email-send': runNode,
    };
    const nodeChecks = {
      'ai-generate': findNothing,
      'tool-call': findNothing,
      'http-request': findNothing,
      condition: findNothing,
      'email-send': findNothing,
    };
    const about = { keyId: '', permissions: ['read' as const, 'write' as const], tier: 'free' as const };
    const callerOf = (developerId: string) => Promise.resolve({ ...about, developerId, isOperator: false });
    return createWorkflows({
      database: this.db,
      url: this.home.url,
      callerOf,
      nodeTypes,
      nodeChecks,
      settings: { ...SETTINGS, ...change },
      log,
    });
  }

  /** Workflows of a process that works on runs until the bench is closed. */
  async work(change: Partial<typeof SETTINGS> = {}): Promise<Workflows & { work: WorkflowWork }> {
    const workflows = this.workflows(change);
    const work = await workflows.startWork();
    this.#undo.push(async () => {
      await work.stop();
      await workflows.close();
    });
    return { ...workflows, work };
  }

  async relay(listener: EventListener): Promise<void> {
    const relay = await createOutboxRelay({ database: this.db, url: this.home.url, listeners: [listener], log });
    this.#undo.push(() => relay.stop());
  }

  /** A workflow of the developer, unless `more` names another. */
  create(
    nodes: WorkflowNode[],
    edges: WorkflowEdge[] = [],
    { developerId = DEVELOPER, ...more }: { developerId?: string; trigger?: Trigger } = {},
  ): Promise<WorkflowRow> {
    return createWorkflow(this.db, developerId, { name: 'Test', nodes, edges, ...more });
  }

  /** Starts a run; gives its id. */
  async start(workflows: Workflows, workflow: WorkflowRow, data: object = {}): Promise<string> {
    const run = newRun(workflow, { triggeredBy: 'api', triggerData: data, depth: 0 });
    await workflows.starter.start(run);
    return run.id;
  }

  read(workflow: WorkflowRow, runId: string): Promise<Run> {
    return readRun(this.db, { developerId: DEVELOPER, workflowId: workflow.id, runId });
  }

  /** The run, unless the connection over which it was asked for has just been broken. */
  async #look(workflow: WorkflowRow, runId: string): Promise<Run | undefined> {
    try {
      return await this.read(workflow, runId);
    } catch (error) {
      if (error instanceof AppError && error.code === 'UNAVAILABLE') return undefined;
      throw error;
    }
  }

  /** The run when it has ended. */
  async ended(workflow: WorkflowRow, runId: string): Promise<Run> {
    const giveUpAtMs = performance.now() + TIMEOUT_MS;
    for (;;) {
      const run = await this.#look(workflow, runId);
      if (run?.status === 'completed' || run?.status === 'failed') return run;
      if (performance.now() > giveUpAtMs) throw new Error(`the run is still ${run?.status ?? 'not to be read'}`);
      await sleep(10);
    }
  }

  async rows(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.db.query({ text, values })).rows;
  }

  /** Events that name a run. */
  eventsOf(runId: string): Promise<Record<string, unknown>[]> {
    return this.rows(`select type, data from outbox_events where data ->> 'runId' = $1`, [runId]);
  }
}

export function node(id: string, more: Partial<WorkflowNode> = {}): WorkflowNode {
  return { id, type: 'http-request', ...more };
}
