import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import {
  createChangeFeed,
  isDatabaseAway,
  migrate,
  openDatabase,
  startEmbedded,
  type ChangeFeed,
  type Database,
} from '../platform/db/index.ts';
import { AppError, errorMessage } from '../platform/errors/index.ts';
import type { AllSettings } from './settings.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

/** The database of this process and what listens to it. */
export interface Storage {
  url: string;
  database: Database;
  changes: ChangeFeed;
  close: () => Promise<void>;
}

/** Which server did not answer, without the password, and why. Other failures stay as they are. */
function explain(error: unknown, given: string | undefined): unknown {
  if (given === undefined || !isDatabaseAway(error)) return error;
  const { hostname, port, pathname } = new URL(given);
  const failure = error instanceof AppError ? error.cause : error;
  // One for each address of a name such as localhost.
  const cause: unknown = failure instanceof AggregateError ? failure.errors[0] : failure;
  const place = `${hostname || 'localhost'}:${port || '5432'}${pathname}`;
  return new Error(`the database of DATABASE_URL, ${place}, cannot be reached: ${errorMessage(cause)}.`, { cause });
}

/** Connects to the given PostgreSQL, or starts the embedded one, and brings the schema up to date. */
export async function openStorage(settings: AllSettings['db'], log: Logger): Promise<Storage> {
  const given = settings.DATABASE_URL?.reveal();
  const embedded =
    given === undefined
      ? await startEmbedded({ dataDir: settings.DATA_DIR, serverUser: settings.TESSERA_PG_USER, log })
      : undefined;
  const url = given ?? embedded?.url ?? '';
  const database = openDatabase({
    url,
    maxConnections: settings.DATABASE_POOL,
    applicationName: 'tessera',
    onError: (error) => log.warn({ err: error }, 'a database connection was lost'),
  });
  try {
    await migrate({ database, folder: MIGRATIONS });
    const changes = await createChangeFeed({ url, log });
    return {
      url,
      database,
      changes,
      close: async () => {
        await changes.close();
        await database.close();
        await embedded?.stop();
      },
    };
  } catch (error) {
    await database.close();
    await embedded?.stop();
    throw explain(error, given);
  }
}
