import { prepared, type Queryable, type Transaction } from '../../platform/db/index.ts';

/** How long a process counts as alive after it last said so. */
const LEASE = '5 seconds';
/** Rows of a process are kept beyond its lease, for one that was only slow. */
const REMEMBERED = '60 seconds';

export interface AgentRow {
  id: string;
  developerId: string;
  name: string;
  handlers: string[];
  connectedAt: Date;
  lastSeenAt: Date;
}

/** Says that a process lives. True when it was not written down, and its agents therefore are not either. */
export async function renewLease(db: Queryable, processId: string): Promise<boolean> {
  const { rows } = await db.query<{ isNew: boolean }>({
    text: `insert into relay_processes (id, lease_until) values ($1, now() + interval '${LEASE}')
      on conflict (id) do update set lease_until = excluded.lease_until returning xmax = 0 as "isNew"`,
    values: [processId],
  });
  return rows[0]?.isNew === true;
}

export async function removeProcess(db: Queryable, processId: string): Promise<void> {
  await db.query({ text: 'delete from relay_processes where id = $1', values: [processId] });
}

/** Forgets processes that are gone, their agents, and calls that nobody waits for any more. */
export async function removeStale(tx: Transaction): Promise<void> {
  await tx.query({ text: `delete from relay_processes where lease_until < now() - interval '${REMEMBERED}'` });
  await tx.query({ text: 'delete from relay_calls where expires_at < now()' });
}

/** Writes down which agents a process holds; all at once, and again as they are seen. */
export async function saveAgents(db: Queryable, processId: string, agents: readonly AgentRow[]): Promise<void> {
  await db.query({
    text: `insert into agents (developer_id, id, process_id, name, handlers, connected_at, last_seen_at)
      select "developerId", id, $1, name, handlers, "connectedAt", "lastSeenAt"
      from jsonb_to_recordset($2) as given ("developerId" text, id text, name text, handlers jsonb,
        "connectedAt" timestamptz, "lastSeenAt" timestamptz)
      on conflict (developer_id, id) do update set last_seen_at = excluded.last_seen_at`,
    values: [processId, JSON.stringify(agents)],
  });
}

export async function removeAgent(db: Queryable, developerId: string, id: string): Promise<void> {
  await db.query({ text: 'delete from agents where developer_id = $1 and id = $2', values: [developerId, id] });
}

/** Removes what is written down of a process and is not so: agents up to an id in time that it does not hold. */
export async function removeOtherAgents(
  db: Queryable,
  processId: string,
  held: { ids: readonly string[]; upTo: string },
): Promise<void> {
  await db.query({
    text: 'delete from agents where process_id = $1 and id <= $2 and not (id = any($3))',
    values: [processId, held.upTo, held.ids],
  });
}

const listed = prepared(`select agents.id, developer_id as "developerId", name, handlers,
    connected_at as "connectedAt", last_seen_at as "lastSeenAt", process_id as "processId"
  from agents join relay_processes on relay_processes.id = process_id
  where developer_id = $1 and lease_until > now() order by agents.id`);

/** The agents of a developer in every process that lives. */
export async function listAgentRows(db: Queryable, developerId: string): Promise<(AgentRow & { processId: string })[]> {
  return (await db.query<AgentRow & { processId: string }>(listed([developerId]))).rows;
}

/** Where an agent is connected. */
export interface AgentPlace {
  agentId: string;
  processId: string;
}

const placed = prepared(`select agents.id as "agentId", process_id as "processId"
  from agents join relay_processes on relay_processes.id = process_id
  where developer_id = $1 and handlers ? $2 and process_id <> $3 and lease_until > now() and not (agents.id = any($4))
  order by (select count(*) from relay_calls
    where relay_calls.developer_id = $1 and agent_id = agents.id and status <> 'done'), random()
  limit 1`);

/** An agent of another process that runs the handler: the one with the fewest calls from elsewhere under way. */
export async function findAgentElsewhere(
  db: Queryable,
  processId: string,
  wanted: { developerId: string; handler: string; except: readonly string[] },
): Promise<AgentPlace | undefined> {
  const { developerId, handler, except } = wanted;
  return (await db.query<AgentPlace>(placed([developerId, handler, processId, except]))).rows[0];
}
