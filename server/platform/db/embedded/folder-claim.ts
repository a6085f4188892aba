import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { isAlive } from './is-alive.ts';
import { ROLE } from './init-cluster.ts';

/** Any number that nothing else locks. */
const CLAIM_KEY = 8_377_373;
const CONNECT_TIMEOUT_MS = 5000;
/** How long the session of a service that was killed may take to go away. */
const GHOST_TIMEOUT_MS = 3000;

const NAME_PREFIX = 'tessera service ';

/** Address of a database on a server that listens in this folder. */
export function urlOf(socketFolder: string, database: string = ROLE): string {
  return `postgresql://${ROLE}@localhost/${database}?host=${encodeURIComponent(socketFolder)}`;
}

async function open(url: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    application_name: `${NAME_PREFIX}${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function createServiceDatabase(socketFolder: string): Promise<void> {
  const client = await open(urlOf(socketFolder, 'postgres'));
  try {
    await client.query(`create database ${ROLE}`);
  } catch (error) {
    // 42P04, 23505: another starter made it at the same moment.
    if (!(error instanceof DatabaseError) || !['42P04', '23505'].includes(error.code ?? '')) throw error;
  } finally {
    await client.end();
  }
}

/** Connects to the service's database, which the first connection to a new cluster creates. */
export async function connectService(socketFolder: string): Promise<Client> {
  try {
    return await open(urlOf(socketFolder));
  } catch (error) {
    // 3D000: there is no such database.
    if (!(error instanceof DatabaseError) || error.code !== '3D000') throw error;
    await createServiceDatabase(socketFolder);
    return open(urlOf(socketFolder));
  }
}

async function holderPid(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.objid = $1 and l.classid = 0`,
    [CLAIM_KEY],
  );
  return rows[0] && Number(rows[0].name.slice(NAME_PREFIX.length));
}

async function tryClaim(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ claimed: boolean }>('select pg_try_advisory_lock($1) as claimed', [CLAIM_KEY]);
  return rows[0]?.claimed === true;
}

/**
 * Claims the data folder for this process for as long as the connection lives; the system gives it back if we die.
 * Throws an Error of one line that names the folder and the process that has it.
 */
export async function claimFolder(client: Client, dataDir: string): Promise<void> {
  const deadline = performance.now() + GHOST_TIMEOUT_MS;
  while (!(await tryClaim(client))) {
    const pid = await holderPid(client);
    const isGhost = pid === undefined || !isAlive(pid);
    if (!isGhost || performance.now() > deadline) {
      throw new Error(`The data folder ${dataDir} is in use by another Tessera process (pid ${pid ?? 'unknown'}).`);
    }
    await sleep(10);
  }
}
