import type { Logger } from 'pino';
import type { Database } from '../../platform/db/index.ts';
import { HotGraphs } from './memory/hot-graphs.ts';

/** Knowledge graphs: the database, and what memory holds of it. */
export interface Graphs {
  database: Database;
  hot: HotGraphs;
  /** Waits for what is being loaded. */
  close: () => Promise<void>;
}

export function createGraphs({
  database,
  log,
  memoryMb,
}: {
  database: Database;
  log: Logger;
  memoryMb: number;
}): Graphs {
  const hot = new HotGraphs({
    database,
    maxBytes: memoryMb * 1024 * 1024,
    onError: (error) => log.warn({ err: error }, 'a graph could not be loaded; the database answers for it'),
  });
  return { database, hot, close: () => hot.close() };
}
