import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { EVENTS } from '../../contract/events/index.ts';
import { aiRoutes } from '../modules/ai/index.ts';
import { appRoutes, marketplaceRoutes } from '../modules/apps/index.ts';
import { callLogRoutes, eventRoutes } from '../modules/events/index.ts';
import { graphRoutes } from '../modules/graph/index.ts';
import { adminRoutes, keyRoutes } from '../modules/keys/index.ts';
import { knowledgeRoutes } from '../modules/knowledge/index.ts';
import { agentRoutes, agentSocketRoute } from '../modules/relay/index.ts';
import { toolRoutes } from '../modules/tools/index.ts';
import { workflowRoutes } from '../modules/workflows/index.ts';
import { errorMessage } from '../platform/errors/index.ts';
import { buildServer, stopServer, type HttpServer, type Route } from '../platform/http/index.ts';
import { migrateQueue } from '../platform/queue/index.ts';
import { createMetrics, type Metrics } from '../platform/telemetry/index.ts';
import { addDocsPage } from './docs-page/index.ts';
import { addHealthRoutes } from './health-routes.ts';
import { openModules, type Modules } from './open-modules.ts';
import { openStorage, type Storage } from './open-storage.ts';
import { openWorker, type Worker } from './open-worker.ts';
import { addOpenApiRoute } from './openapi/index.ts';
import type { AllSettings } from './settings.ts';
import { version } from './version.ts';

/** Requests under way get this long to finish when the service stops. */
const GRACE_MS = 10_000;
const READY_TIMEOUT_MS = 1000;

/** A running service. */
export interface Service {
  url: string;
  version: string;
  /** Stops accepting, finishes what is under way, writes what is buffered, lets go of the database. */
  stop: () => Promise<void>;
}

export interface StartOptions {
  /**
   * Told of the first key when it has been made, on the very first start when none was given. It cannot be read again,
   * so it has to be shown even when the start fails afterwards.
   */
  onGeneratedKey?: (key: string) => void;
  /** Gives up the start when aborted, after undoing what was begun. */
  signal?: AbortSignal;
  /** Milliseconds that requests under way get when the service stops. */
  graceMs?: number;
}

interface Parts {
  settings: AllSettings;
  log: Logger;
  metrics: Metrics;
  storage: Storage;
  modules: Modules;
  worker: Worker | undefined;
}

function routesOf({ settings, storage, modules }: Parts): Route[] {
  if (settings.app.ROLE === 'worker') return [];
  const { keys, callLog, events, relay, tools, ai } = modules;
  return [
    ...keyRoutes(keys),
    ...adminRoutes(keys),
    ...toolRoutes(tools),
    ...appRoutes(modules.apps),
    ...marketplaceRoutes(modules.apps),
    ...agentRoutes(relay),
    ...graphRoutes(modules.graphs),
    ...knowledgeRoutes(modules.knowledge),
    ...aiRoutes(ai),
    ...workflowRoutes(modules.workflows),
    ...eventRoutes(events),
    ...callLogRoutes({ database: storage.database, callLog }),
  ];
}

async function answersInTime(storage: Storage): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), READY_TIMEOUT_MS);
  const answered = storage.database.query({ text: 'select 1' }).then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}

function serverOf(parts: Parts, state: { isStopping: boolean }): HttpServer {
  const { settings, log, metrics, modules, storage, worker } = parts;
  const routes = routesOf(parts);
  const server = buildServer({
    routes,
    socketRoutes: settings.app.ROLE === 'worker' ? [] : [agentSocketRoute(modules.relay)],
    gate: modules.keys.gate,
    transport: settings.transport,
    log,
    recordCall: (call) => {
      modules.keys.recordCall(call);
      modules.callLog.record(call);
      modules.workflows.noteCall();
    },
    observe: (facts) => metrics.requests.record(facts),
  });
  const refresh = metrics.watch({
    pool: () => storage.database.stats(),
    modelCalls: () => modules.models.counts(),
    queueDepth: () => worker?.queueDepth() ?? Promise.resolve(0),
  });
  addHealthRoutes(server, { metrics, refresh, isReady: async () => !state.isStopping && answersInTime(storage) });
  const contracts = routes.map((route) => route.contract);
  addOpenApiRoute(server, contracts, EVENTS);
  addDocsPage(server);
  return server;
}

const LISTEN_FAILURES: Record<string, string> = {
  EADDRINUSE: 'another program uses that port',
  EACCES: 'the user that starts the service may not use that port',
  EADDRNOTAVAIL: 'this machine has no such address',
};

/** Throws an Error of one line that names the settings which cannot be used. */
async function listen(server: HttpServer, { HOST, PORT }: AllSettings['http']): Promise<void> {
  try {
    // One address: for the name localhost, Fastify would open a second server that no stop waits for.
    const { address } = await lookup(HOST, { order: 'ipv4first' });
    await server.listen({ host: address, port: PORT });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = LISTEN_FAILURES[code] ?? errorMessage(error);
    throw new Error(`cannot listen on HOST ${HOST}, PORT ${PORT}: ${reason}.`, { cause: error });
  }
}

function addressOf(server: HttpServer, { http, transport }: AllSettings): string {
  const { port } = asAddressInfo(server.server.address());
  const host = http.HOST.includes(':') ? `[${http.HOST}]` : http.HOST;
  return `${transport.tls ? 'https' : 'http'}://${host}:${port}`;
}

/** Safe because the server listens on TCP: only a pipe has a text address, only a closed server none. */
function asAddressInfo(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new TypeError('the server does not listen on TCP');
  return address;
}

type Undo = (() => Promise<void>)[];

/** Opens what serves requests and jobs. Each part that is open adds how to close it. */
async function openParts(context: { settings: AllSettings; log: Logger }, undo: Undo, options: StartOptions) {
  const { settings, log } = context;
  const { signal, onGeneratedKey } = options;
  const metrics = createMetrics();
  const storage = await openStorage(settings.db, log);
  undo.push(storage.close);
  signal?.throwIfAborted();
  const modules = await openModules({ settings, storage, metrics, log });
  undo.push(modules.close);
  const { generatedKey, isGivenKeyRevoked } = modules.keys.firstStart;
  if (generatedKey !== undefined) onGeneratedKey?.(generatedKey);
  if (isGivenKeyRevoked) log.warn('BOOTSTRAP_API_KEY names a key that was revoked; it stays revoked');
  signal?.throwIfAborted();
  if (settings.app.ROLE === 'api') {
    await migrateQueue(storage);
    return { ...context, metrics, storage, modules, worker: undefined };
  }
  const worker = await openWorker({ settings, storage, modules, metrics, log });
  undo.push(worker.stop);
  signal?.throwIfAborted();
  return { ...context, metrics, storage, modules, worker };
}

/** Starts everything in order, and undoes what was begun when a later step fails. */
export async function startService(settings: AllSettings, log: Logger, options: StartOptions = {}): Promise<Service> {
  const { graceMs = GRACE_MS } = options;
  const undo: Undo = [];
  const stopAll = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    const parts = await openParts({ settings, log }, undo, options);
    const state = { isStopping: false };
    const server = serverOf(parts, state);
    undo.push(async () => {
      await Promise.all([parts.modules.relay.drain(), stopServer(server, graceMs)]);
    });
    await listen(server, settings.http);
    log.info({ embeddings: parts.modules.knowledge.embeddingModel ?? 'none' }, 'ready');
    return {
      url: addressOf(server, settings),
      version,
      stop: async () => {
        state.isStopping = true;
        await stopAll();
      },
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}
