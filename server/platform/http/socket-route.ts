// oxlint-disable-next-line no-restricted-imports -- the answer to a request that came in, not a call
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Permission } from '../../../contract/shared/tiers.ts';
import { AppError } from '../errors/index.ts';
import { demandPermission, presentedKey, type Gatekeeper } from './pipeline.ts';
import type { Caller } from './request-context.ts';

/** A path on which clients change to WebSocket. They pass the pipeline first, like every other request. */
export interface SocketRoute {
  path: string;
  permission: Permission;
  /** A larger message ends the connection with status 1009. */
  maxMessageBytes: number;
  accept: (accepted: AcceptedSocket) => void;
}

/** A connection that has changed to WebSocket. */
export interface AcceptedSocket {
  socket: WebSocket;
  caller: Caller;
  /** Bytes that have arrived so far. */
  bytesRead: () => number;
  /** Whether the key that opened the connection would still open it. */
  isStillAllowed: () => Promise<boolean>;
}

const KEY = /^[+/0-9A-Za-z]{22}==$/;

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? '';
}

/** Whether it asks for what ws can give; anything else is answered in our form, not in that of ws. */
function isHandshake({ method, headers }: IncomingMessage): boolean {
  const isVersionKnown = headers['sec-websocket-version'] === '13';
  return method === 'GET' && isVersionKnown && KEY.test(headers['sec-websocket-key'] ?? '');
}

/** Requests that asked for the change, with their connections, until their route answers. */
type Waiting = WeakMap<IncomingMessage, { socket: Socket; head: Buffer }>;

/** Sends upgrade requests of these paths through the pipeline; Node answers all others as if they had not asked. */
function watchUpgrades(app: FastifyInstance, paths: ReadonlySet<string>): Waiting {
  const waiting: Waiting = new WeakMap();
  Object.assign(app.server, {
    shouldUpgradeCallback: (request: IncomingMessage) =>
      request.headers.upgrade?.toLowerCase() === 'websocket' && paths.has(pathOf(request)),
  });
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node has let go of the connection, and with it of its errors.
    socket.on('error', () => socket.destroy());
    waiting.set(request, { socket, head });
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    // A refusal.
    response.once('finish', () => socket.end());
    app.routing(request, response);
  });
  return waiting;
}

function isStillAllowed(gate: Gatekeeper, key: string, was: { caller: Caller; permission: Permission }) {
  return async (): Promise<boolean> => {
    const caller = await gate.identify(key);
    return caller?.developerId === was.caller.developerId && caller.permissions.includes(was.permission);
  };
}

interface Upgrade {
  route: SocketRoute;
  server: WebSocketServer;
  waiting: Waiting;
  gate: Gatekeeper;
}

function upgrade({ route, server, waiting, gate }: Upgrade, request: FastifyRequest, reply: FastifyReply): void {
  const caller = demandPermission(request, route.permission);
  const connection = waiting.get(request.raw);
  if (!connection || !isHandshake(request.raw)) {
    throw new AppError('INVALID_REQUEST', 'This endpoint speaks WebSocket (version 13): ask for it with Upgrade.');
  }
  const { socket, head } = connection;
  reply.hijack();
  const response = reply.raw;
  response.detachSocket(socket);
  server.handleUpgrade(request.raw, socket, head, (opened) => {
    const allowed = isStillAllowed(gate, presentedKey(request) ?? '', { caller, permission: route.permission });
    route.accept({ socket: opened, caller, bytesRead: () => socket.bytesRead, isStillAllowed: allowed });
    response.statusCode = 101;
  });
  // For those who wait for the end of the exchange: what follows is no HTTP.
  response.emit('close');
}

/** Puts routes on the server on which clients change to WebSocket. */
export function addSocketRoutes(app: FastifyInstance, gate: Gatekeeper, routes: readonly SocketRoute[]): void {
  if (routes.length === 0) return;
  const waiting = watchUpgrades(app, new Set(routes.map(({ path }) => path)));
  for (const route of routes) {
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: route.maxMessageBytes,
    });
    const parts = { route, server, waiting, gate };
    app.route({
      method: 'GET',
      url: route.path,
      onRequest: (request, _reply, done) => {
        request.call.route = route.path;
        demandPermission(request, route.permission);
        done();
      },
      handler: (request, reply) => upgrade(parts, request, reply),
    });
  }
}
