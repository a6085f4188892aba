import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Lookup } from './resolve-host.ts';

// Real servers on loopback, for the tests beside this file. Each is closed by `closeAll`.

export interface LoopbackServer {
  port: number;
  /** Without a path. */
  url: string;
  /** Connections that were made so far. */
  connections: () => number;
  /** The connections, oldest first. */
  sockets: Socket[];
}

const open = new Set<() => Promise<unknown>>();

/** Closes what was started since the last time. */
export async function closeAll(): Promise<void> {
  const closers = [...open];
  open.clear();
  await Promise.all(closers.map((close) => close()));
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address ? address.port : 0;
}

async function listen(server: Server, host: string): Promise<LoopbackServer> {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => {
    sockets.push(socket);
    // A client that leaves in the middle is what many tests are about.
    socket.on('error', () => undefined);
  });
  server.listen(0, host);
  await once(server, 'listening');
  open.add(() => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    return closed;
  });
  const port = portOf(server.address());
  return { port, url: `http://127.0.0.1:${port}`, connections: () => sockets.length, sockets };
}

/** An HTTP server on 127.0.0.1, or another host. */
export function serveHttp(
  listener: (request: IncomingMessage, response: ServerResponse) => unknown,
  host = '127.0.0.1',
): Promise<LoopbackServer> {
  return listen(
    createHttpServer((request, response) => void listener(request, response)),
    host,
  );
}

/** A server that answers every connection as it likes. */
export function serveTcp(onConnection: (socket: Socket) => void): Promise<LoopbackServer> {
  return listen(createTcpServer(onConnection), '127.0.0.1');
}

/** A server that sends these bytes, whatever it is asked. */
export function serveBytes(bytes: string | Buffer): Promise<LoopbackServer> {
  return serveTcp((socket) => socket.once('data', () => socket.write(bytes)));
}

export interface LoopbackDns {
  lookup: Lookup;
  /** Names that were asked for an IPv4 address, in order. */
  asked: string[];
}

/** A name server: gives the nth question (from 0) for a name these IPv4 addresses, or no answer. */
export async function serveDns(answer: (name: string, nth: number) => string[] | undefined): Promise<LoopbackDns> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const name = readName(query);
    const nth = asked.filter((earlier) => earlier === name).length;
    asked.push(name);
    const addresses = answer(name, nth);
    if (addresses) socket.send(reply(query, addresses), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  open.add(() => {
    const closed = once(socket, 'close');
    socket.close();
    return closed;
  });
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  const lookup: Lookup = async (name) => (await resolver.resolve4(name)).map((address) => ({ address, family: 4 }));
  return { lookup, asked };
}

const HEADER_LENGTH = 12;

/** The name in the question of a DNS message (RFC 1035, 4.1.2). */
function readName(query: Buffer): string {
  const labels: string[] = [];
  for (let at = HEADER_LENGTH, length = query[at] ?? 0; length > 0; at += length + 1, length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
  }
  return labels.join('.');
}

/** An answer of A records (RFC 1035, 4.1.3) that live for no time at all. */
function reply(query: Buffer, addresses: string[]): Buffer {
  const question = query.subarray(HEADER_LENGTH, HEADER_LENGTH + readName(query).length + 2 + 4);
  const header = Buffer.from(query.subarray(0, HEADER_LENGTH));
  header.writeUInt16BE(0x81_80, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  const records = addresses.map((address) =>
    Buffer.from([0xc0, HEADER_LENGTH, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([header, question, ...records]);
}
