import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's address of the cluster that start-test-cluster runs. */
    testClusterUrl: string;
  }
}

/** The database that test databases are copies of. */
export const TEMPLATE = 'tessera_template';

export interface TestDatabase {
  url: string;
  /** Breaks every connection to it, as a restart or a fail-over does. */
  breakConnections: () => Promise<void>;
  /** Removes the database, whoever is still connected. */
  drop: () => Promise<void>;
}

/** The same server, another database. */
export function withDatabaseName(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

async function asAdmin(sql: string): Promise<void> {
  const client = new Client({ connectionString: inject('testClusterUrl') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A database of its own for a test file: the schema, no rows. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdmin(`create database ${name} template ${TEMPLATE}`);
  return {
    url: withDatabaseName(inject('testClusterUrl'), name),
    breakConnections: () => asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`),
    drop: () => asAdmin(`drop database if exists ${name} with (force)`),
  };
}
