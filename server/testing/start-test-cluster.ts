import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { migrate, openDatabase, startEmbedded } from '../platform/db/index.ts';
import { migrateQueue } from '../platform/queue/index.ts';
import { TEMPLATE, withDatabaseName } from './test-database.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

function open(url: string) {
  return openDatabase({ url, maxConnections: 2, applicationName: 'tessera tests', onError: () => undefined });
}

/** Makes the database that test databases are copies of: it has the schema and no rows. */
async function createTemplate(adminUrl: string): Promise<void> {
  const admin = open(adminUrl);
  await admin.query({ text: `create database ${TEMPLATE}` });
  await admin.close();
  const template = open(withDatabaseName(adminUrl, TEMPLATE));
  await migrate({ database: template, folder: MIGRATIONS });
  await migrateQueue({ database: template });
  await template.close();
}

/** Vitest's global set-up: one embedded PostgreSQL for the whole run, in a folder that goes away with it. */
export default async function startTestCluster(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'tessera-test-'));
  const { url, stop } = await startEmbedded({ dataDir: join(folder, 'data'), log: pino({ level: 'warn' }) });
  await createTemplate(url);
  project.provide('testClusterUrl', url);
  return async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
}
