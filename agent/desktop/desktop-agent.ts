import type { Call, Result } from '../../contract/agent/protocol.ts';
import { backoffMs } from './backoff.ts';
import { Connection } from './connection.ts';
import type { LoadedHandler } from './handler.ts';
import { runCall, type Ask } from './run-call.ts';

/** How long calls under way may take when the agent is asked to leave. */
const LEAVE_TIMEOUT_MS = 60_000;
/** A connection that held this long was a good one: the next failure is the first again. */
const STABLE_MS = 10_000;

export interface AgentOptions {
  url: string;
  key: string;
  agentName: string;
  handlers: readonly LoadedHandler[];
  /** Asked before every call. */
  ask: Ask | undefined;
  /** Told of what happens, a line each. */
  print: (line: string) => void;
}

function describe(result: Result): string {
  return result.status === 'success' ? 'ok' : `failed: ${result.error}`;
}

/** Stays connected to one service and runs what it is asked to, until it is told to leave. */
export class DesktopAgent {
  readonly #options: AgentOptions;
  readonly #handlers: ReadonlyMap<string, LoadedHandler>;
  readonly #connections = new Set<Connection>();
  readonly #left = Promise.withResolvers<void>();
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #isLeaving = false;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#handlers = new Map(options.handlers.map((handler) => [handler.name, handler]));
  }

  /** Connects, and again whenever it is needed. Resolves when it has left; rejects when the key is refused. */
  run(): Promise<void> {
    this.#connect();
    return this.#left.promise;
  }

  /** Takes no further calls, and leaves when those under way have ended. */
  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    clearTimeout(this.#retry);
    for (const connection of this.#connections) connection.leave('The agent was stopped.');
    const timer = setTimeout(() => this.leaveNow(), LEAVE_TIMEOUT_MS);
    void this.#left.promise.finally(() => clearTimeout(timer)).catch(() => undefined);
    this.#checkLeft();
  }

  /** Leaves whatever is under way. */
  leaveNow(): void {
    for (const connection of this.#connections) connection.terminate();
    this.#left.resolve();
  }

  #connect(): void {
    const { url, key, agentName, handlers, print } = this.#options;
    let welcomedAtMs: number | undefined;
    let isReplaced = false;
    const replace = (reason: string): void => {
      if (isReplaced || this.#isLeaving) return;
      isReplaced = true;
      const wasStable = welcomedAtMs !== undefined && performance.now() - welcomedAtMs > STABLE_MS;
      this.#connectLater(wasStable ? 0 : this.#failures + 1, reason);
    };
    const connection = new Connection({
      url,
      key,
      agentName,
      handlers,
      run: (call, signal) => this.#run(call, signal),
      onWelcome: (agentId) => {
        welcomedAtMs = performance.now();
        print(`connected to ${url} as ${agentId}`);
      },
      onBye: replace,
      onEnd: (reason, isRefused) => {
        this.#connections.delete(connection);
        if (isRefused) this.#left.reject(new Error(`${reason}: check the key, and that it may write`));
        else replace(reason);
        this.#checkLeft();
      },
    });
    this.#connections.add(connection);
  }

  #connectLater(failures: number, reason: string): void {
    this.#failures = failures;
    const waitMs = backoffMs(failures);
    this.#options.print(`disconnected: ${reason}; connecting again in ${(waitMs / 1000).toFixed(1)} s`);
    this.#retry = setTimeout(() => this.#connect(), waitMs);
  }

  #checkLeft(): void {
    if (this.#isLeaving && this.#connections.size === 0) this.#left.resolve();
  }

  async #run(call: Call, signal: AbortSignal): Promise<Result> {
    const { ask, print } = this.#options;
    const startedAt = performance.now();
    const result = await runCall({ handlers: this.#handlers, ask }, call, signal);
    const outcome = signal.aborted ? 'cancelled' : describe(result);
    print(`${call.handler} ${outcome} ${Math.round(performance.now() - startedAt)} ms`);
    return result;
  }
}
