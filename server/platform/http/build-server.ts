import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { LIMITS } from '../../../contract/shared/limits.ts';
import { AppError } from '../errors/index.ts';
import { createId } from '../ids/index.ts';
import { compileValidator, parseJsonBody } from '../json/index.ts';
import { errorBody, logFailure, toAppError } from './error-rim.ts';
import type { Transport } from './http.settings.ts';
import { admit, setLimitHeaders, type CallRecord, type CallState, type Gatekeeper } from './pipeline.ts';
import { registerBytesRoutes, registerRoute } from './register-route.ts';
import type { Route } from './route.ts';
import { UnderWay } from './under-way.ts';
import { refuseBroken } from './refuse-broken.ts';
import { addSocketRoutes, type SocketRoute } from './socket-route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    call: CallState;
  }
  interface FastifyInstance {
    underWay: UnderWay;
  }
}

export type HttpServer = FastifyInstance;

export interface ServerOptions {
  routes: Route[];
  socketRoutes?: SocketRoute[];
  gate: Gatekeeper;
  transport: Transport;
  log: Logger;
  /** Told of every authenticated request when its answer is complete or its client has left. */
  recordCall: (call: CallRecord) => void;
  /** Told of every request, with the path template it matched. */
  observe: (facts: { method: string; route: string; status: number; durationMs: number }) => void;
}

/** A client's own id is kept when it is short and plain, so that it can be followed through its logs and ours. */
const FOREIGN_REQUEST_ID = /^[\w.-]{8,64}$/;

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && FOREIGN_REQUEST_ID.test(given) ? given : createId('req');
}

function createInstance({ transport, log, gate }: ServerOptions): FastifyInstance {
  return fastify({
    https: transport.tls ?? null,
    trustProxy: transport.trustProxy,
    bodyLimit: LIMITS.bodyBytes,
    // The whole request has to arrive in this time: nobody holds a socket by dripping.
    requestTimeout: 120_000,
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: 2048, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    // What still arrives on an open connection during a stop is answered.
    return503OnClosing: false,
    exposeHeadRoutes: true,
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      setLimitHeaders(reply, gate.spendAnonymous(request.ip, 1));
      sendFailure(log, reply, error);
    },
    clientErrorHandler: (error, socket) => refuseBroken(error, socket, gate),
  });
}

function sendFailure(log: Logger, reply: FastifyReply, thrown: unknown): void {
  const error = toAppError(thrown);
  // Nobody is there to be told, and what failed is that they left.
  if (!reply.raw.destroyed) logFailure(log, error, reply.request.id);
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error)));
}

function refuseInsecure(request: FastifyRequest): void {
  if (request.protocol !== 'https') throw new AppError('FORBIDDEN', 'Requests must use HTTPS.');
}

/** Ends the record of a request once, whether its answer was finished or its client left. */
function watchEnd(request: FastifyRequest, response: ServerResponse, options: ServerOptions): void {
  const { underWay } = request.server;
  underWay.beginAnswer(response);
  response.once('close', () => {
    underWay.endAnswer(response);
    const { caller, isCounted, startedAt, startedAtMs } = request.call;
    const durationMs = performance.now() - startedAt;
    // 499, as proxies log it: the client closed the connection before there was an answer.
    const isAnswered = response.headersSent || response.statusCode === 101;
    const status = isAnswered ? response.statusCode : 499;
    options.observe({ method: request.method, route: request.call.route, status, durationMs });
    if (!caller) return;
    const { url } = request;
    const query = url.indexOf('?');
    const path = query === -1 ? url : url.slice(0, query);
    options.recordCall({
      caller,
      isCounted,
      requestId: request.id,
      method: request.method,
      path,
      status,
      startedAtMs,
      durationMs,
    });
  });
}

/** Pages outside the contract are open and not counted; everything under it needs a key. */
function begin(request: FastifyRequest, reply: FastifyReply, options: ServerOptions): void | Promise<void> {
  const { gate, transport } = options;
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
    throw new AppError('INVALID_REQUEST', 'The request has no Host header.');
  }
  if (!request.url.startsWith('/v1/')) return setLimitHeaders(reply, gate.spendAnonymous(request.ip, 0));
  if (transport.requiresHttps) refuseInsecure(request);
  return admit(gate, request, reply);
}

function addPipeline(app: FastifyInstance, options: ServerOptions): void {
  const { gate, log } = options;
  app.addHook('onRequest', (request, reply, done): void | Promise<void> => {
    request.call = {
      startedAtMs: Date.now(),
      startedAt: performance.now(),
      caller: undefined,
      isCounted: false,
      route: 'unknown',
    };
    watchEnd(request, reply.raw, options);
    reply.header('x-request-id', request.id);
    try {
      // Fastify takes either a call of done or a promise: a warm key is settled without waiting a turn.
      const admitted = begin(request, reply, options);
      if (admitted instanceof Promise) return admitted;
      done();
    } catch (error) {
      done(asError(error));
    }
    return undefined;
  });
  app.setErrorHandler((error, request, reply) => {
    if (!reply.hasHeader('x-ratelimit-limit')) setLimitHeaders(reply, gate.spendAnonymous(request.ip, 1));
    sendFailure(log, reply, error);
  });
  app.setNotFoundHandler((request) => {
    throw new AppError('NOT_FOUND', `There is no ${request.method} ${request.url.split('?', 1)[0]}.`);
  });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function watchConnections(app: FastifyInstance): void {
  const underWay = new UnderWay();
  app.decorate('underWay', underWay);
  const { server } = app;
  server.on('connection', (socket: Socket) => underWay.addConnection(socket));
  server.on('secureConnection', (socket: Socket) => underWay.addConnection(socket));
  // Node would refuse a request without Host in no form; `begin` does it in ours.
  Object.assign(server, { requireHostHeader: false });
  // What a client expects is not a reason to refuse it: Node would, with 417 in no form.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Node calls it when the server closes.
  const closeIdleConnections = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => underWay.closeIdle(closeIdleConnections);
}

/**
 * Accepts no further connection, and lets every request under way finish; after the grace their connections are cut,
 * which aborts what they wait for. Resolves when their handlers have noted how they ended.
 */
export async function stopServer(app: HttpServer, graceMs: number): Promise<void> {
  app.underWay.beginStop();
  const timer = setTimeout(() => app.underWay.closeAll(), graceMs);
  await app.close();
  clearTimeout(timer);
  await app.underWay.end();
}

/** The HTTP server with every contract route on it. Not listening yet; routes outside the contract may be added. */
export function buildServer(options: ServerOptions): HttpServer {
  const app = createInstance(options);
  app.setValidatorCompiler(({ schema, httpPart }) => compileValidator(schema, httpPart));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      done(null, parseJsonBody(body));
    } catch (error) {
      done(asError(error));
    }
  });
  app.decorateRequest('call');
  watchConnections(app);
  addPipeline(app, options);
  for (const route of options.routes) if (route.answer.kind !== 'bytes') registerRoute(app, route);
  registerBytesRoutes(
    app,
    options.routes.filter(({ answer }) => answer.kind === 'bytes'),
  );
  addSocketRoutes(app, options.gate, options.socketRoutes ?? []);
  return app;
}
