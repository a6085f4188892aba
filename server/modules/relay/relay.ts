import type { Logger } from 'pino';
import type { Agent } from '../../../contract/routes/agents.ts';
import type { ChangeFeed, Database } from '../../platform/db/index.ts';
import type { AcceptedSocket } from '../../platform/http/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { AgentConnection } from './agent-connection.ts';
import { findAgentElsewhere, listAgentRows } from './agent.store.ts';
import { failure, wasNotSent, type AgentCall, type CallOutcome } from './call-outcome.ts';
import { Presence } from './presence.ts';
import { RemoteCalls } from './remote-calls.ts';

const HEARTBEAT_MS = 10_000;
const DEFAULT_TIMEOUT_MS = 60_000;
/** Connections of one developer to one process. */
const MAX_AGENTS = 100;
/** Agents of other processes that are asked in turn while they answer that they were not. */
const MAX_ATTEMPTS = 4;

export interface RelayOptions {
  database: Database;
  changes: ChangeFeed;
  log: Logger;
  /** Milliseconds that a handler may take. */
  timeoutMs?: number;
  heartbeatMs?: number;
}

/** A handler to run, for a developer, on whichever agent of theirs has it. */
interface RelayCall {
  developerId: string;
  handler: string;
  input: Record<string, unknown>;
  signal: AbortSignal;
  timeoutMs?: number;
}

/** Desktop agents, those of this process and those of others. */
export interface Relay {
  /** Runs a handler: sent to one agent at most, and never again. Rejects only when the database is away. */
  call: (call: RelayCall) => Promise<CallOutcome>;
  /** Whether an agent that runs the handler is connected, to any process. */
  find: (developerId: string, handler: string) => Promise<boolean>;
  /** The agents of a developer that are connected, to any process. */
  list: (developerId: string) => Promise<Agent[]>;
  /** Takes on a connection, whose agent has yet to introduce itself. */
  accept: (accepted: AcceptedSocket) => void;
  /** Sends every agent elsewhere, and resolves when the calls under way have ended and the connections are closed. */
  drain: () => Promise<void>;
  close: () => Promise<void>;
}

class AgentRelay implements Relay {
  readonly #options: RelayOptions;
  readonly #processId = createId('proc');
  /** Open connections, by developer. */
  readonly #connections = new Map<string, Set<AgentConnection>>();
  /** Those of them that are written down for other processes, or are about to be. */
  readonly #known = new Set<AgentConnection>();
  readonly #presence: Presence;
  readonly #remote: RemoteCalls;
  #isDraining = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { database, changes, log } = options;
    const processId = this.#processId;
    this.#presence = new Presence({ database, processId, held: () => [...this.#known], log });
    this.#remote = new RemoteCalls({
      database,
      changes,
      processId,
      run: ({ developerId, agentId }, call) => {
        const agent = this.#of(developerId).find(({ id }) => id === agentId);
        return agent?.call(call) ?? Promise.resolve(noAgent(call.handler));
      },
      log,
    });
  }

  async call(call: RelayCall): Promise<CallOutcome> {
    const { developerId, handler, input, signal, timeoutMs = this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS } = call;
    const sent: AgentCall = { callId: createId('call'), handler, input, timeoutMs, signal };
    const local = this.#freest(developerId, handler);
    const outcome = local ? await local.call(sent) : noAgent(handler);
    return wasNotSent(outcome) ? this.#callElsewhere({ ...sent, developerId }, outcome) : outcome;
  }

  async find(developerId: string, handler: string): Promise<boolean> {
    if (this.#freest(developerId, handler)) return true;
    const wanted = { developerId, handler, except: [] };
    return (await findAgentElsewhere(this.#options.database, this.#processId, wanted)) !== undefined;
  }

  async list(developerId: string): Promise<Agent[]> {
    const rows = await listAgentRows(this.#options.database, developerId);
    const held = new Map([...this.#known].map((agent) => [agent.id, agent]));
    return rows
      .filter(({ id, processId }) => processId !== this.#processId || held.has(id))
      .map(({ id, name, handlers, connectedAt, lastSeenAt }) => ({
        _id: id,
        name,
        handlers,
        connectedAt: connectedAt.toISOString(),
        lastSeenAt: (held.get(id)?.lastSeenAt ?? lastSeenAt).toISOString(),
      }));
  }

  accept(accepted: AcceptedSocket): void {
    const { developerId } = accepted.caller;
    const connection = new AgentConnection(accepted, {
      id: createId('agent'),
      heartbeatMs: this.#options.heartbeatMs ?? HEARTBEAT_MS,
      onHello: (agent) => this.#join(agent),
      onLeave: (agent, reason) => this.#part(agent, reason),
    });
    const others = this.#connections.get(developerId) ?? new Set();
    this.#connections.set(developerId, others.add(connection));
    void connection.ended.then(() => this.#forget(connection));
    if (this.#isDraining) connection.leave('The service is stopping.');
    else if (others.size > MAX_AGENTS) connection.end(`A developer may connect ${MAX_AGENTS} agents.`);
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    const connections = [...this.#connections.values()].flatMap((all) => [...all]);
    for (const connection of connections) connection.leave('The service is stopping.');
    await Promise.all(connections.map(({ ended }) => ended));
    await this.#remote.drain();
  }

  async close(): Promise<void> {
    this.#remote.close();
    await this.#presence.close();
  }

  #of(developerId: string): AgentConnection[] {
    return [...(this.#connections.get(developerId) ?? [])];
  }

  /** The agent of this process with the fewest calls under way. */
  #freest(developerId: string, handler: string): AgentConnection | undefined {
    return this.#of(developerId)
      .filter((agent) => agent.isReady && agent.handlers.has(handler))
      .toSorted((a, b) => Number(b.hasRoom) - Number(a.hasRoom) || a.callCount - b.callCount)[0];
  }

  /** Tries agents of other processes; gives `before` when there is none. */
  async #callElsewhere(call: AgentCall & { developerId: string }, before: CallOutcome): Promise<CallOutcome> {
    const { developerId, handler } = call;
    const asked: string[] = [];
    let outcome = before;
    while (asked.length < MAX_ATTEMPTS) {
      const wanted = { developerId, handler, except: asked };
      const place = await findAgentElsewhere(this.#options.database, this.#processId, wanted);
      if (!place) break;
      asked.push(place.agentId);
      outcome = await this.#remote.ask(place, { ...call, callId: createId('call') });
      if (!wasNotSent(outcome)) break;
    }
    return outcome;
  }

  #forget(connection: AgentConnection): void {
    const connections = this.#connections.get(connection.developerId);
    connections?.delete(connection);
    if (connections?.size === 0) this.#connections.delete(connection.developerId);
  }

  async #join(agent: AgentConnection): Promise<void> {
    this.#known.add(agent);
    await this.#presence.add(agent);
    const { id: agentId, developerId, name } = agent;
    // It left before it was written down.
    if (!this.#known.has(agent)) await this.#presence.remove(agent);
    else this.#options.log.info({ agentId, developerId, name }, 'an agent connected');
  }

  #part(agent: AgentConnection, reason: string): void {
    this.#known.delete(agent);
    const { id: agentId, developerId, name } = agent;
    this.#options.log.info({ agentId, developerId, name, reason }, 'an agent leaves');
    void this.#presence.remove(agent);
  }
}

function noAgent(handler: string): CallOutcome {
  return failure('no_agent', `The tool "${handler}" runs on a desktop agent, and none is connected that has it.`);
}

export function createRelay(options: RelayOptions): Relay {
  return new AgentRelay(options);
}
