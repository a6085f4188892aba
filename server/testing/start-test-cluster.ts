import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { migrate, openDatabase, startEmbedded } from '../platform/db/index.ts';
import { migrateQueue } from '../platform/queue/index.ts';
import { TEMPLATE, withDatabaseName } from './test-database.ts';

const PREFIX = 'tessera-test-';
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

async function remove(folder: string): Promise<void> {
  // A server that still runs there is adopted, so that it can be stopped.
  const { stop } = await startEmbedded({ dataDir: join(folder, 'data'), log: pino({ level: 'silent' }) });
  await stop();
  await rm(folder, { recursive: true, force: true });
}

/** Removes what runs left behind that were killed; a folder's name holds the process that made it. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : process.pid;
    if (!isAlive(pid)) await remove(join(tmpdir(), name)).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Vitest's global set-up: one embedded PostgreSQL for the whole run, in a folder that goes away with it. */
export default async function startTestCluster(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftovers();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const { url, stop } = await startEmbedded({ dataDir: join(folder, 'data'), log: pino({ level: 'warn' }) });
  await createTemplate(url);
  project.provide('testClusterUrl', url);
  return async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
}
