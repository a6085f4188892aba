import type { Logger } from 'pino';
import { createGroupWriter, type Database } from '../db/index.ts';
import { createId } from '../ids/index.ts';
import type { NewEvent } from './event.ts';
import { publishAlone } from './publish-events.ts';

export interface EventRecorder {
  /** Writes events together with those of others; resolves when they are on disk. */
  record: (events: readonly NewEvent[]) => Promise<void>;
  /** Writes what waits, then drops what comes. */
  close: () => Promise<void>;
}

/** For happenings that change nothing themselves, and so have no transaction to be written in: a tool ran, a call failed. */
export function createEventRecorder({ database, log }: { database: Database; log: Logger }): EventRecorder {
  const writer = createGroupWriter<NewEvent>({
    write: (events) => publishAlone(database, events),
    maxItems: 1000,
    maxDelayMs: 0,
    maxQueued: 100_000,
    log,
  });
  return {
    record: async (events) => {
      // With their ids from the start: a batch may be written twice when the connection breaks during its commit.
      await Promise.all(events.map((event) => writer.submit({ id: createId('evt'), ...event })));
    },
    close: () => writer.close(),
  };
}
