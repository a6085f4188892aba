import type { Logger } from 'pino';
import { createGroupWriter, type Database } from '../../platform/db/index.ts';
import { publishEvents } from '../../platform/outbox/index.ts';
import { insertTurns, insertUsage, type ChatEnding } from './chat.store.ts';

/** How long endings that nobody waits for are collected: as many chats as end meanwhile share one commit. */
const UNAWAITED_DELAY_MS = 25;

function conversationEvents(endings: readonly ChatEnding[]) {
  return endings.flatMap(({ developerId, eventId: id, usage: { outcome, model, inputTokens, outputTokens } }) =>
    outcome === 'finished' && id !== undefined
      ? { id, developerId, type: 'ai.conversation' as const, data: { model, inputTokens, outputTokens } }
      : [],
  );
}

/** Stores turns, usage and events of chats that end about the same time in one transaction: one fsync for all. */
async function write(database: Database, endings: readonly ChatEnding[]): Promise<void> {
  await database.transaction(async (tx) => {
    await insertUsage(tx, endings);
    await insertTurns(tx, endings);
    await publishEvents(tx, conversationEvents(endings));
  });
}

export interface ChatLedger {
  /** Stores the ending; resolves when it is on disk. */
  commit: (ending: ChatEnding) => Promise<void>;
  /** Stores the ending soon, for chats whose next request does not depend on it. */
  enqueue: (ending: ChatEnding) => void;
  close: () => Promise<void>;
}

export function createChatLedger({ database, log }: { database: Database; log: Logger }): ChatLedger {
  const options = {
    write: (endings: ChatEnding[]) => write(database, endings),
    maxItems: 500,
    maxQueued: 100_000,
    log,
  };
  const awaited = createGroupWriter<ChatEnding>({ ...options, maxDelayMs: 0 });
  const unawaited = createGroupWriter<ChatEnding>({ ...options, maxDelayMs: UNAWAITED_DELAY_MS });
  return {
    commit: (ending) => awaited.submit(ending),
    enqueue: (ending) => unawaited.enqueue(ending),
    close: async () => {
      await Promise.all([awaited.close(), unawaited.close()]);
    },
  };
}
