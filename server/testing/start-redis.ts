import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = 'redis-server';
const PASSWORD = 'redis-password-that-no-log-may-hold';

/** False where `npm test` could not provide redis-server: the tests that need it are left out. */
export const hasRedis = !(process.env['TESSERA_WITHOUT'] ?? '').split(',').includes('redis');

/** A Redis of its own for a test, which keeps nothing on disk. */
export interface TestRedis {
  url: string;
  password: string;
  /** It goes on holding its connections, and answers nothing. */
  pause: () => void;
  resume: () => void;
  /** kill -9: connections break, data is gone. */
  stop: () => Promise<void>;
  /** After `stop`: empty, at the same address. */
  restart: () => Promise<void>;
  /** Stops it and removes its folder. */
  remove: () => Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = asAddressInfo(server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** Safe because the server listens on TCP: only a pipe has a text address, only a closed server none. */
function asAddressInfo(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new TypeError('the server does not listen on TCP');
  return address;
}

/** Whatever ends the tests, no server outlives them. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

async function launch(port: number, folder: string): Promise<ChildProcess> {
  const settings = { port, bind: '127.0.0.1', dir: folder, requirepass: PASSWORD, save: '', appendonly: 'no' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  let output = '';
  for await (const part of child.stdout.setEncoding('utf8')) {
    output += String(part);
    if (output.includes('Ready to accept connections')) break;
  }
  if (child.exitCode !== null) throw new Error(`redis-server ended:\n${output}`);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Starts a redis-server on a free port of this machine. */
export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'tessera-test-redis-'));
  const port = await freePort();
  let child = await launch(port, folder);
  return {
    url: `redis://:${PASSWORD}@127.0.0.1:${port}`,
    password: PASSWORD,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    stop: () => kill(child),
    restart: async () => {
      child = await launch(port, folder);
    },
    remove: async () => {
      await kill(child);
      await rm(folder, { recursive: true });
    },
  };
}
