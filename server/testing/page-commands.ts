import { spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

const DOCS = resolve(import.meta.dirname, '../../docs');

/** Whether this machine has what the commands of the pages need. */
export const canRunPages = ['bash', 'curl', 'jq'].every((program) => spawnSync(program, ['--version']).status === 0);

interface PageRun {
  /** What stands in for a text of the page, such as the address of the service. */
  replace: Record<string, string>;
  env: Record<string, string>;
}

/** Runs the shell commands of a page of `docs/` in their order, until one fails. */
export async function runPage(
  name: string,
  { replace, env }: PageRun,
): Promise<{ code: number | null; output: string }> {
  const text = await readFile(resolve(DOCS, name), 'utf8');
  const blocks = Array.from(text.matchAll(/```sh\n(.*?)```/gs), ([, block]) => block ?? '');
  let commands = blocks.join('echo\n').replaceAll('curl -s', 'curl -s --fail-with-body');
  for (const [said, meant] of Object.entries(replace)) commands = commands.replaceAll(said, meant);
  const shell = spawn('bash', ['-e', '-o', 'pipefail', '-c', commands], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (part) => (output += String(part)));
  const code = await new Promise<number | null>((resolved) => shell.on('close', resolved));
  return { code, output };
}
