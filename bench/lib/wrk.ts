import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RawRequest } from './http-client.ts';

const run = promisify(execFile);

export interface Load {
  requestsPerSecond: number;
  /** Answers that were not 2xx or 3xx, and broken connections. */
  failures: number;
}

function script({ method, headers, body }: RawRequest): string {
  const lines = [`wrk.method = ${JSON.stringify(method)}`];
  for (const [name, value] of Object.entries(headers)) {
    lines.push(`wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  }
  if (body !== undefined) lines.push(`wrk.body = [==[${body}]==]`);
  return lines.join('\n');
}

function countOf(output: string, pattern: RegExp): number {
  return Number(pattern.exec(output)?.[1] ?? 0);
}

/** Loads an address with wrk (Debian package `wrk`) from one thread. */
export async function load(request: RawRequest, options: { connections: number; seconds: number }): Promise<Load> {
  const folder = await mkdtemp(join(tmpdir(), 'tessera-bench-'));
  try {
    const file = join(folder, 'request.lua');
    await writeFile(file, script(request));
    const { connections, seconds } = options;
    const url = `http://${request.host}:${request.port}${request.path}`;
    const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', file, url]);
    const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout);
    const broken = (errors ?? []).slice(1).reduce((sum, text) => sum + Number(text), 0);
    return {
      requestsPerSecond: countOf(stdout, /Requests\/sec: +([\d.]+)/),
      failures: countOf(stdout, /Non-2xx or 3xx responses: (\d+)/) + broken,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
