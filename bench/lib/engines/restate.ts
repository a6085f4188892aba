import { mkdtemp, rm } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../child.ts';
import { RawConnection, requestBytes } from '../http-client.ts';
import { installPeer } from '../install-peer.ts';
import { HOST } from '../service.ts';
import { timed, times, type Engine } from './engine.ts';

interface Context {
  run: (name: string, body: () => boolean) => Promise<boolean>;
}

interface Endpoint {
  bind: (service: object) => Endpoint;
  setLogger: (log: () => void) => Endpoint;
  listen: (port: number) => Promise<number>;
}

/** What is used of @restatedev/restate-sdk. */
interface Restate {
  service: (definition: object) => object;
  endpoint: () => Endpoint;
}

/** Safe because the version is pinned, and these are functions of it. */
function asRestate(exports: unknown): Restate {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return exports as Restate;
}

const START_TIMEOUT_MS = 30_000;

async function startServer(folder: string, ports: { ingress: number; admin: number; node: number }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'tessera-bench-restate-'));
  const server = spawn(join(folder, '@restatedev/restate-server-linux-x64/bin/restate-server'), {
    cwd: dataDir,
    stdio: 'ignore',
    env: {
      ...process.env,
      RESTATE_BASE_DIR: dataDir,
      RESTATE_INGRESS__BIND_ADDRESS: `${HOST}:${ports.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `${HOST}:${ports.admin}`,
      RESTATE_BIND_ADDRESS: `${HOST}:${ports.node}`,
      RESTATE_ADVERTISED_ADDRESS: `http://${HOST}:${ports.node}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
    },
  });
  return async (): Promise<void> => {
    const exited = once(server, 'exit');
    server.kill('SIGTERM');
    await exited;
    await rm(dataDir, { recursive: true, force: true });
  };
}

/** Tells the server where the service is; tries as long as the server starts. */
async function register(admin: number, service: number): Promise<void> {
  const giveUpAtMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      const response = await fetch(`http://${HOST}:${admin}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri: `http://${HOST}:${service}`, force: true }),
      });
      if (response.ok) return;
    } catch {
      // Not listening yet.
    }
    if (performance.now() > giveUpAtMs) throw new Error('Restate did not start.');
    await sleep(200);
  }
}

async function run(ctx: Context): Promise<boolean> {
  for (const name of ['a', 'b', 'c']) await ctx.run(name, () => true);
  return true;
}

/** Restate with a log of its own on disk; the steps run in this process, runs are asked for over HTTP. */
export async function startRestate(concurrency: number): Promise<Engine> {
  const folder = await installPeer('restate', ['@restatedev/restate-server@1.7.12', '@restatedev/restate-sdk@1.17.2']);
  const restate = asRestate(createRequire(join(folder, 'x.js'))('@restatedev/restate-sdk'));
  const [ingress, admin, node, port] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const service = restate.service({ name: 'Three', handlers: { run } });
  const endpoint = restate.endpoint().bind(service);
  await endpoint.setLogger(() => undefined).listen(port);
  const stop = await startServer(folder, { ingress, admin, node });
  await register(admin, port);
  const request = { host: HOST, port: ingress, method: 'POST', path: '/Three/run', headers: {} };
  const connections = await Promise.all(Array.from({ length: concurrency }, () => RawConnection.open(request)));
  const send = async (caller: number): Promise<void> => {
    const answer = await connections[caller]?.send(requestBytes(request));
    if (!/ 200 /.test(answer?.slice(0, 20) ?? '')) throw new Error(`Restate answered ${answer?.slice(0, 200)}`);
  };
  return {
    name: 'Restate',
    one: () => timed(() => send(0)),
    all: (runs, callers) => times(runs, callers, send),
    stop: async () => {
      for (const connection of connections) connection.close();
      await stop();
    },
  };
}
