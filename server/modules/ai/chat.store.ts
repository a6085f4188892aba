import type { Queryable } from '../../platform/db/index.ts';

export interface Turn {
  role: 'user' | 'assistant';
  content: string;
}

/** The latest turns of a conversation, oldest first. */
export async function latestTurns(
  db: Queryable,
  conversation: { developerId: string; conversationId: string },
  limit: number,
): Promise<Turn[]> {
  const { rows } = await db.query<Turn>({
    name: 'latest-turns',
    text: `select role, content from conversation_turns
      where developer_id = $1 and conversation_id = $2 order by id desc limit $3`,
    values: [conversation.developerId, conversation.conversationId, limit],
  });
  return rows.toReversed();
}

/** One ended chat as it is stored. */
export interface ChatEnding {
  developerId: string;
  usage: {
    id: string;
    keyId: string;
    requestId: string;
    model: string;
    outcome: 'finished' | 'failed' | 'abandoned';
    inputTokens: number;
    outputTokens: number;
    steps: number;
    /** ISO 8601. */
    startedAt: string;
    durationMs: number;
  };
  /**
   * Id of the event that tells of it; fixed, so that writing the ending twice tells of it once. Absent when it is no
   * conversation.
   */
  eventId?: string;
  turns: { conversationId: string; id: string; role: Turn['role']; content: string }[];
}

function withDeveloper<T extends object>(developerId: string, items: readonly T[]): (T & { developerId: string })[] {
  return items.map((item) => ({ ...item, developerId }));
}

export async function insertUsage(tx: Queryable, endings: readonly ChatEnding[]): Promise<void> {
  const rows = endings.flatMap(({ developerId, usage }) => withDeveloper(developerId, [usage]));
  await tx.query({
    name: 'insert-ai-usage',
    text: `insert into ai_usage (developer_id, id, key_id, request_id, model, outcome, input_tokens, output_tokens,
        steps, started_at, duration_ms)
      select "developerId", id, "keyId", "requestId", model, outcome, "inputTokens", "outputTokens",
        steps, "startedAt", "durationMs"
      from json_to_recordset($1) as r ("developerId" text, id text, "keyId" text, "requestId" text, model text,
        outcome text, "inputTokens" bigint, "outputTokens" bigint, steps int, "startedAt" timestamptz,
        "durationMs" float8)
      on conflict do nothing`,
    values: [JSON.stringify(rows)],
  });
}

export async function insertTurns(tx: Queryable, endings: readonly ChatEnding[]): Promise<void> {
  const rows = endings.flatMap(({ developerId, turns }) => withDeveloper(developerId, turns));
  if (rows.length === 0) return;
  await tx.query({
    name: 'insert-turns',
    text: `insert into conversation_turns (developer_id, conversation_id, id, role, content)
      select "developerId", "conversationId", id, role, content
      from json_to_recordset($1) as r ("developerId" text, "conversationId" text, id text, role text, content text)
      on conflict do nothing`,
    values: [JSON.stringify(rows)],
  });
}
