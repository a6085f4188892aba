import { access, constants, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { errorMessage } from '../../errors/index.ts';
import { isDatabaseAway } from '../database-error.ts';
import { findBinaries } from './binaries.ts';
import { claimFolder, connectService, urlOf } from './folder-claim.ts';
import { initCluster } from './init-cluster.ts';
import { readPostmaster } from './postmaster-file.ts';
import { forgetForeign, spawnServer, stopServer, type ServerPlace, type Spawned } from './server-process.ts';
import { createLauncher } from './server-user.ts';
import { chooseSocketFolder } from './socket-folder.ts';

const POLL_MS = 10;
/** Recovery after a crash replays at most `max_wal_size`; this is far more than that takes. */
const START_TIMEOUT_MS = 120_000;
/** The backends of a killed server need a moment to notice. */
const RESPAWN_TIMEOUT_MS = 10_000;
const RECLAIM_PAUSE_MS = 200;

/** Endings of a new server that only mean "not yet", or that another starter was quicker. */
const TRANSIENT_FAILURE = /shared memory block .* is still in use|lock file ".*" already exists|is already in use/;

export interface EmbeddedOptions {
  dataDir: string;
  /** Name of the user that runs the server when this process is root's; who owns the cluster, or nobody, when absent. */
  serverUser?: string | undefined;
  log: Logger;
}

export interface EmbeddedPostgres {
  url: string;
  /** True when the server was running already, left by a process that ended without stopping it. */
  adopted: boolean;
  stop: () => Promise<void>;
}

async function preparePlace({ dataDir, serverUser }: EmbeddedOptions): Promise<ServerPlace> {
  // 0711: the user that runs the server passes through, nobody lists what is inside.
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw new Error(`The data folder ${dataDir} is not open to the user that starts the service.`, { cause: error });
  });
  const folder = await realpath(dataDir);
  const cluster = join(folder, 'postgres');
  const binaries = await findBinaries();
  const launcher = await createLauncher(binaries, { cluster, serverUser });
  await initCluster(binaries, launcher, cluster);
  const socketFolder = await chooseSocketFolder(cluster, launcher.user);
  return { binaries, launcher, cluster, socketFolder, logFile: join(folder, 'postgres.log') };
}

/** Connects to the cluster's server if one runs; undefined while it does not accept connections. */
async function tryConnect(place: ServerPlace): Promise<{ client: Client; socketFolder: string } | undefined> {
  const found = await readPostmaster(place.cluster);
  if (!found || found.isForeign) return undefined;
  const socketFolder = found.socketFolder || place.socketFolder;
  try {
    return { client: await connectService(socketFolder), socketFolder };
  } catch (error) {
    if (isDatabaseAway(error)) return undefined;
    throw error;
  }
}

interface Running {
  client: Client;
  socketFolder: string;
  adopted: boolean;
}

/** Finds the cluster's server or starts it, and connects. However many try at once, one server runs. */
async function findOrStart(place: ServerPlace): Promise<Running> {
  const began = performance.now();
  let spawned: Spawned | undefined;
  while (performance.now() - began < START_TIMEOUT_MS) {
    const found = await tryConnect(place);
    if (found) return { ...found, adopted: spawned === undefined };
    const failure = spawned?.failure();
    if (failure !== undefined) {
      const mayRetry = TRANSIENT_FAILURE.test(failure) && performance.now() - began < RESPAWN_TIMEOUT_MS;
      if (!mayRetry) throw new Error(`PostgreSQL did not start: ${failure.split('\n').at(-1)}`);
      spawned = undefined;
      await sleep(POLL_MS * 5);
    }
    const live = await readPostmaster(place.cluster);
    if (spawned === undefined && (!live || live.isForeign)) {
      await forgetForeign(place.cluster);
      spawned = spawnServer(place);
    }
    await sleep(POLL_MS);
  }
  throw new Error(`PostgreSQL did not answer within ${START_TIMEOUT_MS / 1000} s; see ${place.logFile}.`);
}

/** Holds the claim on the folder, and brings the server and the claim back when their connection breaks. */
class Claim {
  readonly #place: ServerPlace;
  readonly #dataDir: string;
  readonly #log: Logger;
  #client: Client | undefined;
  #isClosed = false;
  #recovery: Promise<void> = Promise.resolve();

  constructor(place: ServerPlace, { dataDir, log }: EmbeddedOptions) {
    this.#place = place;
    this.#dataDir = dataDir;
    this.#log = log;
  }

  async acquire(): Promise<Running> {
    const running = await findOrStart(this.#place);
    try {
      await claimFolder(running.client, this.#dataDir);
    } catch (error) {
      await running.client.end();
      throw error;
    }
    this.#client = running.client;
    running.client.once('end', () => {
      if (!this.#isClosed) this.#recovery = this.#reacquire();
    });
    return running;
  }

  async #reacquire(): Promise<void> {
    this.#log.warn('the embedded database went away; bringing it back');
    while (!this.#isClosed) {
      try {
        await this.acquire();
        this.#log.info('the embedded database is back');
        return;
      } catch (error) {
        this.#log.error({ err: error }, `the embedded database is not back yet: ${errorMessage(error)}`);
        await sleep(RECLAIM_PAUSE_MS);
      }
    }
  }

  async stop(): Promise<void> {
    this.#isClosed = true;
    await this.#recovery;
    await this.#client?.end();
    await stopServer(this.#place);
  }
}

/** Address of the server that runs on `<dataDir>/postgres` for somebody else; undefined when none does. */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  const found = await readPostmaster(join(dataDir, 'postgres'));
  return found && !found.isForeign ? urlOf(found.socketFolder) : undefined;
}

/**
 * Runs the embedded PostgreSQL on `<dataDir>/postgres`, made at first need, and keeps it running until `stop`.
 * One service uses a data folder at a time.
 * Throws an Error whose message is one line for the operator.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const place = await preparePlace(options);
  const claim = new Claim(place, options);
  const { socketFolder, adopted } = await claim.acquire();
  return { url: urlOf(socketFolder), adopted, stop: () => claim.stop() };
}
