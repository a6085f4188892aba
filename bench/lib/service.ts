import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseUrlOf } from '../../server/testing/data-dirs.ts';
import { freePort, startChild, type Child } from './child.ts';
import type { RawRequest } from './http-client.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const HOST = '127.0.0.1';
const KEY = 'bench-bootstrap-key-0123456789abcdefghi';

/** The service as its users run it, on a database of its own. */
export interface BenchService {
  port: number;
  child: Child;
  /** Of its own PostgreSQL. */
  databaseUrl: string;
  /** A request with the key. */
  request: (method: string, path: string, body?: unknown) => RawRequest;
  stop: () => Promise<void>;
}

/** Limits far above what a benchmark sends; everything else as it comes. */
const ENV = { BOOTSTRAP_API_KEY: KEY, ENTERPRISE_PER_MINUTE: '100000000', ENTERPRISE_PER_DAY: '1000000000000' };

export async function startBenchService(env: Record<string, string> = {}): Promise<BenchService> {
  const port = await freePort();
  const dataDir = env['DATA_DIR'] ?? (await mkdtemp(join(tmpdir(), 'tessera-bench-data-')));
  const child = await startChild(['--max-semi-space-size=64', 'server/app/main.ts'], {
    cwd: ROOT,
    env: { ...ENV, PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...env },
    readyUrl: `http://${HOST}:${port}/readyz`,
  });
  return {
    port,
    child,
    databaseUrl: databaseUrlOf(dataDir),
    request: (method, path, body) => ({
      host: HOST,
      port,
      method,
      path,
      headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
    stop: async () => {
      await child.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
