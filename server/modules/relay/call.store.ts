import { prepared, type Queryable, type Transaction } from '../../platform/db/index.ts';

/** A call that one process asks another for. */
export interface AskedCall {
  developerId: string;
  id: string;
  agentId: string;
  callerId: string;
  holderId: string;
  handler: string;
  /** JSON text. */
  input: string;
  timeoutMs: number;
}

export interface CallRef {
  developerId: string;
  id: string;
}

const inserted = prepared(`insert into relay_calls
    (developer_id, id, agent_id, caller_id, holder_id, handler, input, timeout_ms, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, now() + $8::integer * interval '1 millisecond' + interval '1 minute')`);

export async function insertCall(tx: Transaction, call: AskedCall): Promise<void> {
  const { developerId, id, agentId, callerId, holderId, handler, input, timeoutMs } = call;
  await tx.query(inserted([developerId, id, agentId, callerId, holderId, handler, input, timeoutMs]));
}

const taken = prepared(`update relay_calls set status = 'taken'
  where developer_id = $1 and id = $2 and holder_id = $3 and status = 'asked'
  returning developer_id as "developerId", id, agent_id as "agentId", caller_id as "callerId",
    holder_id as "holderId", handler, input, timeout_ms as "timeoutMs"`);

/** Takes a call on. Gives it once, to one caller of this function; nothing when it was dropped. */
export async function takeCall(db: Queryable, ref: CallRef, holderId: string): Promise<AskedCall | undefined> {
  return (await db.query<AskedCall>(taken([ref.developerId, ref.id, holderId]))).rows[0];
}

const finished = prepared(`update relay_calls set status = 'done', input = '', outcome = $3
  where developer_id = $1 and id = $2`);

/** Leaves the outcome for the caller. False when it waits no more. */
export async function finishCall(tx: Transaction, ref: CallRef, outcome: string): Promise<boolean> {
  return (await tx.query(finished([ref.developerId, ref.id, outcome]))).rowCount > 0;
}

const collected = prepared(`delete from relay_calls where developer_id = $1 and id = $2 and status = 'done'
  returning outcome`);

/** Takes the outcome, as JSON text, and forgets the call; undefined while it runs. */
export async function collectOutcome(db: Queryable, ref: CallRef): Promise<string | undefined> {
  return (await db.query<{ outcome: string }>(collected([ref.developerId, ref.id]))).rows[0]?.outcome;
}

/** Forgets a call, whatever its state. */
export async function dropCall(tx: Transaction, ref: CallRef): Promise<void> {
  await tx.query({
    text: 'delete from relay_calls where developer_id = $1 and id = $2',
    values: [ref.developerId, ref.id],
  });
}

/** Calls that wait for this process to take them. */
export async function listAsked(db: Queryable, holderId: string): Promise<CallRef[]> {
  const { rows } = await db.query<CallRef>({
    text: `select developer_id as "developerId", id from relay_calls where holder_id = $1 and status = 'asked'`,
    values: [holderId],
  });
  return rows;
}

/** Of these calls of one caller, those that will never be done: the process that holds the agent is gone. */
export async function listOrphaned(db: Queryable, callerId: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    text: `select asked.id from unnest($2::text[]) as asked (id)
      where not exists (select from relay_calls join relay_processes on relay_processes.id = holder_id
        where relay_calls.id = asked.id and caller_id = $1 and (status = 'done' or lease_until > now()))`,
    values: [callerId, ids],
  });
  return rows.map(({ id }) => id);
}
