import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase, type Database } from '../index.ts';
import { startEmbedded, type EmbeddedPostgres } from './index.ts';

const log = pino({ level: 'silent' });
const SERVICE = `
  import { pino } from 'pino';
  import { startEmbedded } from ${JSON.stringify(import.meta.resolve('./index.ts'))};
  try {
    const { url, adopted } = await startEmbedded({ dataDir: process.argv[1], log: pino({ level: 'silent' }) });
    console.log(JSON.stringify({ url, adopted }));
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }));
    process.exit(1);
  }`;

let folder: string;
let dataDir: string;
let cleanUp: (() => Promise<unknown>)[];

interface ServiceLine {
  url?: string;
  adopted?: boolean;
  error?: string;
}

/** Safe because the script above writes it. */
function asServiceLine(line: string): ServiceLine {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(line) as ServiceLine;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tessera-embedded-'));
  // The default of mkdtemp closes it to the user that runs the server.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  cleanUp = [];
});

afterEach(async () => {
  for (const step of cleanUp.toReversed()) await step();
  // Whatever the test left: a start adopts it, so that its stop ends it.
  await (await startEmbedded({ dataDir, log })).stop();
  await rm(folder, { recursive: true });
});

async function start(): Promise<EmbeddedPostgres> {
  const embedded = await startEmbedded({ dataDir, log });
  cleanUp.push(() => embedded.stop());
  return embedded;
}

function open(url: string): Database {
  const db = openDatabase({ url, maxConnections: 2, applicationName: 'test', onError: () => undefined });
  cleanUp.push(() => db.close());
  return db;
}

/** A service in a process of its own; gives its first line. */
async function startService(): Promise<{ child: ChildProcess; line: ServiceLine }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SERVICE, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: process.cwd(),
  });
  cleanUp.push(() => kill(child));
  for await (const line of createInterface({ input: child.stdout })) return { child, line: asServiceLine(line) };
  return { child, line: {} };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function postmasterPid(): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

async function settings(db: Database): Promise<Record<string, string>> {
  const { rows } = await db.query<{ name: string; setting: string }>({ text: 'select name, setting from pg_settings' });
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

test('a new folder gets a durable UTF-8 database that listens on no network', async () => {
  const embedded = await start();
  expect(embedded.adopted).toBe(false);
  const db = open(embedded.url);
  expect(await settings(db)).toMatchObject({
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    listen_addresses: '',
    server_encoding: 'UTF8',
    TimeZone: 'UTC',
  });
  const { rows } = await db.query({ text: `select lower('ÄÖ') as lower, current_database() as name` });
  expect(rows).toEqual([{ lower: 'äö', name: 'tessera' }]);
});

test('what was stored is there after a stop and a start', async () => {
  const first = await start();
  const db = open(first.url);
  await db.query({ text: 'create table kept as select 1 as one' });
  await db.close();
  cleanUp.pop();
  await first.stop();
  const second = await start();
  await expect(open(second.url).query({ text: 'select * from kept' })).resolves.toMatchObject({ rows: [{ one: 1 }] });
});

test('a server left running by a killed service is adopted, not started again', async () => {
  const { child, line } = await startService();
  expect(line.adopted).toBe(false);
  const pid = await postmasterPid();
  await kill(child);
  const embedded = await start();
  expect(embedded.adopted).toBe(true);
  expect(await postmasterPid()).toBe(pid);
});

test('a second service on the same folder gets one line that names the folder and the first', async () => {
  const { child } = await startService();
  const second = await startService();
  expect(second.line.error).toBe(`The data folder ${dataDir} is in use by another Tessera process (pid ${child.pid}).`);
});

test('of services that start at once on a new folder one runs and the others say so', async () => {
  const services = await Promise.all([startService(), startService(), startService()]);
  const lines = services.map(({ line }) => line);
  expect(lines.filter(({ url }) => url !== undefined)).toHaveLength(1);
  expect(lines.filter(({ error }) => error?.includes('is in use by another Tessera process') === true)).toHaveLength(2);
  expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'postgres.log']);
});

test('a server killed under a running service is brought back, and what was committed is there', async () => {
  const embedded = await start();
  const db = open(embedded.url);
  await db.query({ text: 'create table kept as select 1 as one' });
  const pid = await postmasterPid();
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => postmasterPid().catch(() => pid), { timeout: 15_000 }).not.toBe(pid);
  await expect
    .poll(() => db.query({ text: 'select * from kept' }).catch(() => undefined), { timeout: 15_000 })
    .toMatchObject({ rows: [{ one: 1 }] });
  const second = await startService();
  expect(second.line.error).toContain('is in use by another Tessera process');
});

test('after a kill of service and server at once the next start recovers', async () => {
  const { child } = await startService();
  const pid = await postmasterPid();
  child.kill('SIGKILL');
  process.kill(pid, 'SIGKILL');
  const embedded = await start();
  expect(embedded.adopted).toBe(false);
  await expect(open(embedded.url).query({ text: 'select 1 as one' })).resolves.toMatchObject({ rows: [{ one: 1 }] });
});

test('a postmaster.pid whose number belongs to a stranger now does not hinder the start', async () => {
  await (await start()).stop();
  const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
  cleanUp.push(() => kill(stranger));
  const cluster = join(dataDir, 'postgres');
  const note = [stranger.pid, cluster, 1_700_000_000, 5432, cluster, '', '  5432001  1', 'ready   '];
  await writeFile(join(cluster, 'postmaster.pid'), `${note.join('\n')}\n`);
  expect((await start()).adopted).toBe(false);
});

test('a kill in the middle of the first start leaves nothing that hinders the next', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SERVICE, dataDir], { stdio: 'ignore' });
  const made = join(dataDir, `postgres.new-${child.pid}`);
  await expect.poll(() => readdir(join(made, 'base')).catch(() => []), { interval: 2 }).not.toEqual([]);
  await kill(child);
  await start();
  expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'postgres.log']);
});

test('a folder whose path is too long for a socket works', async () => {
  dataDir = join(folder, 'a'.repeat(90), 'data');
  const embedded = await start();
  await expect(open(embedded.url).query({ text: 'select 1 as one' })).resolves.toMatchObject({ rows: [{ one: 1 }] });
});

test.runIf(process.getuid?.() === 0 && existsSync('/usr/bin/setpriv'))(
  'root can run it below a folder that is closed to the user that runs the server',
  async () => {
    await chmod(folder, 0o700);
    const embedded = await start();
    await expect(open(embedded.url).query({ text: 'select 1 as one' })).resolves.toMatchObject({ rows: [{ one: 1 }] });
  },
);
