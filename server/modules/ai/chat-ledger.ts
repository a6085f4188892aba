import type { Logger } from 'pino';
import { createGroupWriter, type Database } from '../../platform/db/index.ts';
import { publishEvents } from '../../platform/outbox/index.ts';
import { insertTurns, insertUsage, type ChatEnding } from './chat.store.ts';

function conversationEvents(endings: readonly ChatEnding[]) {
  return endings
    .filter(({ usage }) => usage.outcome === 'finished')
    .map(({ developerId, usage: { model, inputTokens, outputTokens } }) => ({
      developerId,
      type: 'ai.conversation' as const,
      data: { model, inputTokens, outputTokens },
    }));
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
  const writer = createGroupWriter<ChatEnding>({
    write: (endings) => write(database, endings),
    maxItems: 500,
    maxDelayMs: 0,
    maxQueued: 100_000,
    log,
  });
  return {
    commit: (ending) => writer.submit(ending),
    enqueue: (ending) => writer.enqueue(ending),
    close: () => writer.close(),
  };
}
