import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { EVENTS } from '../../contract/events/index.ts';
import { aiRoutes } from '../modules/ai/index.ts';
import { adminRoutes, keyRoutes } from '../modules/keys/index.ts';
import { toolRoutes } from '../modules/tools/index.ts';
import { buildServer, type HttpServer, type Route } from '../platform/http/index.ts';
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
  /** The first key, on the very first start when none was given. */
  generatedKey: string | undefined;
  /** Stops accepting, finishes what is under way, writes what is buffered, lets go of the database. */
  stop: () => Promise<void>;
}

interface Parts {
  settings: AllSettings;
  log: Logger;
  metrics: Metrics;
  storage: Storage;
  modules: Modules;
  worker: Worker | undefined;
}

function routesOf({ settings, modules }: Parts): Route[] {
  if (settings.app.ROLE === 'worker') return [];
  const { keys, tools, ai } = modules;
  return [...keyRoutes(keys), ...adminRoutes(keys), ...toolRoutes(tools), ...aiRoutes(ai)];
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
    gate: modules.keys.gate,
    transport: settings.transport,
    log,
    recordCall: (call) => {
      modules.keys.recordCall(call);
      modules.callLog.record(call);
    },
    observe: ({ method, route, status, durationMs }) =>
      metrics.requests.observe({ method, route, status }, durationMs / 1000),
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

/** Finishes requests under way; after the grace their connections are cut, which aborts what they wait for. */
async function closeServer(server: HttpServer): Promise<void> {
  const timer = setTimeout(() => server.server.closeAllConnections(), GRACE_MS);
  await server.close();
  clearTimeout(timer);
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

/** Starts everything in order, and undoes what was begun when a later step fails. */
export async function startService(settings: AllSettings, log: Logger): Promise<Service> {
  const undo: (() => Promise<void>)[] = [];
  const stopAll = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    const metrics = createMetrics();
    const storage = await openStorage(settings.db, log);
    undo.push(storage.close);
    const modules = await openModules({ settings, storage, metrics, log });
    undo.push(modules.close);
    const worker = settings.app.ROLE === 'api' ? undefined : await openWorker(storage, metrics, log);
    if (worker) undo.push(worker.stop);
    const state = { isStopping: false };
    const server = serverOf({ settings, log, metrics, storage, modules, worker }, state);
    await server.listen({ host: settings.http.HOST, port: settings.http.PORT });
    undo.push(() => closeServer(server));
    if (modules.keys.firstStart.isGivenKeyRevoked) {
      log.warn('BOOTSTRAP_API_KEY names a key that was revoked; it stays revoked');
    }
    return {
      url: addressOf(server, settings),
      version,
      generatedKey: modules.keys.firstStart.generatedKey,
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
