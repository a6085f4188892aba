import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, startChild, type Child } from './child.ts';
import { HOST, ROOT } from './service.ts';

const PACKAGE = '@portkey-ai/gateway@1.15.2';
const FOLDER = join(ROOT, 'node_modules/.cache/tessera-bench/portkey');
const ENTRY = join(FOLDER, 'node_modules/@portkey-ai/gateway/build/start-server.js');

/** Installs the peer beside the project, once; it is never one of our dependencies. */
async function install(): Promise<void> {
  if (existsSync(ENTRY)) return;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, 'package.json'), '{"private":true}');
  await promisify(execFile)('npm', ['install', '--no-save', PACKAGE], { cwd: FOLDER });
}

/** Starts Portkey's gateway on a free port. */
export async function startPortkey(): Promise<{ child: Child; port: number }> {
  await install();
  const port = await freePort();
  const child = await startChild([ENTRY, `--port=${port}`, '--headless'], {
    cwd: FOLDER,
    env: { NODE_ENV: 'production' },
    readyUrl: `http://${HOST}:${port}/`,
  });
  return { child, port };
}
