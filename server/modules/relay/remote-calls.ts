import type { Logger } from 'pino';
import { notifyChange, type ChangeFeed, type Database } from '../../platform/db/index.ts';
import { errorMessage } from '../../platform/errors/index.ts';
import type { AgentPlace } from './agent.store.ts';
import { failure, type AgentCall, type CallOutcome } from './call-outcome.ts';
import {
  collectOutcome,
  dropCall,
  finishCall,
  insertCall,
  listAsked,
  listOrphaned,
  takeCall,
  type AskedCall,
  type CallRef,
} from './call.store.ts';

/** For news that were missed, and for processes that vanish. */
const LOOK_MS = 1000;
/** The process that holds the agent is the one to say that time is up. */
const EXTRA_MS = 2000;

function topicOf(processId: string): string {
  return `relay_${processId}`;
}

interface Waiting extends CallRef {
  holderId: string;
  /** Its row is there. */
  isAsked: boolean;
  settle: (outcome: CallOutcome) => void;
}

export interface RemoteCallsOptions {
  database: Database;
  changes: ChangeFeed;
  processId: string;
  /** Runs a call on an agent of this process. */
  run: (place: { developerId: string; agentId: string }, call: AgentCall) => Promise<CallOutcome>;
  log: Logger;
}

/** Calls between processes: rows with what is asked and what came of it, and notifications that there is one. */
export class RemoteCalls {
  readonly #options: RemoteCallsOptions;
  /** Calls that this process waits for. */
  readonly #waiting = new Map<string, Waiting>();
  /** Calls that it runs for others. */
  readonly #running = new Map<string, { abort: AbortController; done: Promise<void> }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RemoteCallsOptions) {
    this.#options = options;
    options.changes.on(topicOf(options.processId), (news) => this.#hear(news));
    options.changes.onLost(() => this.#try(this.#takeAsked()));
  }

  /** Has the process that holds the agent run the call. Rejects when the database is away. */
  async ask({ agentId, processId }: AgentPlace, call: AgentCall & { developerId: string }): Promise<CallOutcome> {
    const { callId, developerId, handler, input, timeoutMs, signal } = call;
    const ref = { developerId, id: callId, holderId: processId };
    const { promise, resolve } = Promise.withResolvers<CallOutcome>();
    const waiting: Waiting = { ...ref, isAsked: false, settle: resolve };
    this.#waiting.set(callId, waiting);
    const giveUp = (outcome: CallOutcome): void => {
      resolve(outcome);
      this.#try(this.#drop(ref));
    };
    const cancel = (): void => giveUp(failure('cancelled', `The call of "${handler}" was cancelled.`));
    const tooLate = failure('timeout', `The agent did not finish "${handler}" within ${timeoutMs / 1000} s.`);
    const timer = setTimeout(() => giveUp(tooLate), timeoutMs + EXTRA_MS);
    this.#timer ??= setInterval(() => this.#try(this.#lookForOutcomes()), LOOK_MS);
    try {
      const callerId = this.#options.processId;
      const asked = { developerId, id: callId, agentId, callerId, holderId: processId, handler, timeoutMs };
      await this.#insert({ ...asked, input: JSON.stringify(input) });
      waiting.isAsked = true;
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      this.#waiting.delete(callId);
    }
  }

  /** Resolves when the calls that this process runs for others are over and told. */
  async drain(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #insert(call: AskedCall): Promise<void> {
    await this.#options.database.transaction(async (tx) => {
      await insertCall(tx, call);
      await notifyChange(tx, topicOf(call.holderId), `call ${call.developerId} ${call.id}`);
    });
  }

  async #drop({ developerId, id, holderId }: CallRef & { holderId: string }): Promise<void> {
    await this.#options.database.transaction(async (tx) => {
      await dropCall(tx, { developerId, id });
      await notifyChange(tx, topicOf(holderId), `cancel ${developerId} ${id}`);
    });
  }

  #hear(news: string): void {
    const [verb, developerId = '', id = ''] = news.split(' ');
    const ref = { developerId, id };
    if (verb === 'call') this.#take(ref);
    else if (verb === 'cancel') this.#running.get(id)?.abort.abort();
    else if (verb === 'done') this.#try(this.#collect(ref));
  }

  /** Outcomes of which the news was missed, and calls of processes that vanished. */
  async #lookForOutcomes(): Promise<void> {
    const { database, processId } = this.#options;
    const asked = [...this.#waiting.values()].filter(({ isAsked }) => isAsked);
    if (asked.length === 0) return;
    for (const ref of asked) await this.#collect(ref);
    const ids = asked.map(({ id }) => id).filter((id) => this.#waiting.has(id));
    for (const id of await listOrphaned(database, processId, ids)) this.#waiting.get(id)?.settle(ORPHANED);
  }

  /** Calls for this process of which the news was missed. */
  async #takeAsked(): Promise<void> {
    for (const ref of await listAsked(this.#options.database, this.#options.processId)) this.#take(ref);
  }

  async #collect(ref: CallRef): Promise<void> {
    const waiting = this.#waiting.get(ref.id);
    if (!waiting) return;
    const outcome = await collectOutcome(this.#options.database, ref);
    if (outcome !== undefined) waiting.settle(asOutcome(JSON.parse(outcome)));
  }

  #take(ref: CallRef): void {
    if (this.#running.has(ref.id)) return;
    const abort = new AbortController();
    const done = this.#run(ref, abort.signal)
      .catch((error: unknown) => this.#complain(error))
      .finally(() => this.#running.delete(ref.id));
    this.#running.set(ref.id, { abort, done });
  }

  async #run(ref: CallRef, signal: AbortSignal): Promise<void> {
    const { database, processId, run } = this.#options;
    const call = await takeCall(database, ref, processId);
    if (!call) return;
    const { developerId, agentId, callerId, handler, timeoutMs } = call;
    const input = asInput(JSON.parse(call.input));
    const outcome = await run({ developerId, agentId }, { callId: call.id, handler, input, timeoutMs, signal });
    await database.transaction(async (tx) => {
      const isAwaited = await finishCall(tx, ref, outcomeText(outcome));
      if (isAwaited) await notifyChange(tx, topicOf(callerId), `done ${developerId} ${call.id}`);
    });
  }

  /** Does in the background what has nobody to tell of its failure. */
  #try(work: Promise<void>): void {
    work.catch((error: unknown) => this.#complain(error));
  }

  #complain(error: unknown): void {
    this.#options.log.warn(`a call between processes was held up: ${errorMessage(error)}`);
  }
}

const ORPHANED = failure(
  'disconnected',
  'The agent disconnected while it ran the call, because the process that held it vanished; how far it came is not known.',
);

function outcomeText(outcome: CallOutcome): string {
  try {
    return JSON.stringify(outcome);
  } catch {
    return JSON.stringify(failure('failed', 'The result nests too deeply.'));
  }
}

/** Safe because the other process wrote it from a value of this type. */
function asOutcome(value: unknown): CallOutcome {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as CallOutcome;
}

/** Safe because the other process wrote it from the input of a call, an object. */
function asInput(value: unknown): Record<string, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as Record<string, unknown>;
}
