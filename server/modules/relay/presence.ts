import type { Logger } from 'pino';
import type { Database } from '../../platform/db/index.ts';
import { errorMessage } from '../../platform/errors/index.ts';
import { createId } from '../../platform/ids/index.ts';
import type { AgentConnection } from './agent-connection.ts';
import {
  removeAgent,
  removeOtherAgents,
  removeProcess,
  removeStale,
  renewLease,
  saveAgents,
  type AgentRow,
} from './agent.store.ts';

const RENEW_MS = 1000;
/** Every so many renewals the table is made to agree with what is connected. */
const RENEWALS_PER_SYNC = 5;
const RENEWALS_PER_CLEANING = 30;

function rowOf({ id, developerId, name, handlers, connectedAt, lastSeenAt }: AgentConnection): AgentRow {
  return { id, developerId, name, handlers: [...handlers], connectedAt, lastSeenAt };
}

export interface PresenceOptions {
  database: Database;
  processId: string;
  /** The agents that this process holds now. */
  held: () => readonly AgentConnection[];
  log: Logger;
}

/** Keeps what other processes know of the agents of this one true. Asks nothing of the database until there is one. */
export class Presence {
  readonly #options: PresenceOptions;
  #timer: NodeJS.Timeout | undefined;
  #renewal: Promise<void> | undefined;
  #renewals = 0;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** Writes an agent down. Rejects when that is not possible. */
  async add(agent: AgentConnection): Promise<void> {
    const { database, processId } = this.#options;
    await renewLease(database, processId);
    await saveAgents(database, processId, [rowOf(agent)]);
    this.#timer ??= setInterval(() => {
      this.#renewal ??= this.#renew().finally(() => (this.#renewal = undefined));
    }, RENEW_MS);
  }

  /** Removes an agent; what cannot be removed now goes with the next look at the whole. */
  async remove({ developerId, id }: AgentConnection): Promise<void> {
    await removeAgent(this.#options.database, developerId, id).catch((error: unknown) => this.#complain(error));
  }

  async close(): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    await this.#renewal;
    const { database, processId } = this.#options;
    await removeProcess(database, processId).catch((error: unknown) => this.#complain(error));
  }

  async #renew(): Promise<void> {
    const { database, processId } = this.#options;
    try {
      const wasForgotten = await renewLease(database, processId);
      if (wasForgotten || ++this.#renewals % RENEWALS_PER_SYNC === 0) await this.#sync();
      if (this.#renewals % RENEWALS_PER_CLEANING === 0) await database.transaction(removeStale);
    } catch (error) {
      this.#complain(error);
    }
  }

  async #sync(): Promise<void> {
    const { database, processId, held } = this.#options;
    // Whoever connects from now on is not in the list, and has a later id.
    const upTo = createId('agent');
    const agents = held();
    if (agents.length > 0) await saveAgents(database, processId, agents.map(rowOf));
    await removeOtherAgents(database, processId, { ids: held().map(({ id }) => id), upTo });
  }

  #complain(error: unknown): void {
    this.#options.log.debug(`agents are not written down: ${errorMessage(error)}`);
  }
}
