import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './service.ts';

/** Installs packages beside the project, once; they are never dependencies of ours. Gives their node_modules. */
export async function installPeer(name: string, packages: readonly string[]): Promise<string> {
  const folder = join(ROOT, 'node_modules/.cache/tessera-bench', name);
  const done = join(folder, 'installed');
  if (!existsSync(done)) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    await promisify(execFile)('npm', ['install', '--no-save', ...packages], { cwd: folder });
    await writeFile(done, '');
  }
  return join(folder, 'node_modules');
}
