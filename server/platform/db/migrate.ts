import type { Client } from 'pg';
import type { Database } from './open-database.ts';
import { readMigrations, type Migration } from './migration-files.ts';

/** Any number that nothing else locks: "tessera" on a telephone. */
const LOCK_KEY = 8_377_372;

interface Applied {
  version: number;
  name: string;
  sha256: string;
}

async function readApplied(client: Client): Promise<Applied[]> {
  await client.query(`create table if not exists schema_migrations (
    version integer primary key,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default now()
  )`);
  const { rows } = await client.query<Applied>('select version, name, sha256 from schema_migrations order by version');
  return rows;
}

/** Refuses a database that this program's files do not explain; each message is one sentence. */
function refuseMismatch(applied: readonly Applied[], known: readonly Migration[]): void {
  const newestApplied = applied.at(-1);
  const newestKnown = known.at(-1);
  if (newestApplied && newestApplied.version > (newestKnown?.version ?? 0)) {
    throw new Error(
      `The database has schema version ${newestApplied.name}, but this program knows versions only up to ${newestKnown?.name ?? 'none'}: run the newer program.`,
    );
  }
  for (const { version, name, sha256 } of applied) {
    const file = known.find((migration) => migration.version === version);
    if (!file) throw new Error(`Migration ${name} was applied to the database, but its file is missing.`);
    if (file.sha256 !== sha256) {
      throw new Error(`Migration ${file.name} was changed after it was applied: restore its text and add a new file.`);
    }
  }
}

async function apply(client: Client, { version, name, sha256, sql }: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(sql);
    await client.query('insert into schema_migrations (version, name, sha256) values ($1, $2, $3)', [
      version,
      name,
      sha256,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`Migration ${name} failed.`, { cause: error });
  }
}

/** Runs `work` while this session alone, of all that ask with the same key, holds the lock; waits as long as it takes. */
export async function withSessionLock<T>(
  database: Database,
  key: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await database.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [key]);
    return await work(client);
  } finally {
    // The end of the session gives the lock back.
    await client.end();
  }
}

/**
 * Brings the schema up to the newest file of the folder, each file in its own transaction. Replicas that start
 * together take turns. Gives the names of what it applied.
 * Throws an Error of one sentence when a file was changed after it was applied or the database is newer.
 */
export async function migrate({ database, folder }: { database: Database; folder: string }): Promise<string[]> {
  const known = await readMigrations(folder);
  return withSessionLock(database, LOCK_KEY, async (client) => {
    const applied = await readApplied(client);
    refuseMismatch(applied, known);
    const versions = new Set(applied.map(({ version }) => version));
    const missing = known.filter(({ version }) => !versions.has(version));
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ name }) => name);
  });
}
