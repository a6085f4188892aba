import { databaseUrlOf, postgresPid, send, signalPostgres } from './data-dirs.ts';
import { queryRows } from './query-rows.ts';

const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and random() < 0.5`;

const TROUBLES: readonly ((dataDir: string) => Promise<unknown>)[] = [
  () => Promise.resolve(),
  (dataDir) => queryRows(databaseUrlOf(dataDir), TERMINATE),
  // A fast shutdown, as of a restart.
  async (dataDir) => send((await postgresPid(dataDir)) ?? 0, 'SIGINT'),
  (dataDir) => signalPostgres(dataDir, 'SIGKILL'),
];

/** What befalls PostgreSQL before the service is killed: nothing, cut connections, a restart or a crash, in turn. */
export async function troublePostgres(dataDir: string, round: number): Promise<void> {
  await TROUBLES[round % TROUBLES.length]?.(dataDir);
}
