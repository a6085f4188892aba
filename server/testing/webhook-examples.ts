import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { send } from './data-dirs.ts';

export const EXAMPLES = fileURLToPath(new URL('../../docs/examples/webhooks', import.meta.url));

/** A message as it is on the wire. */
export interface SignedMessage {
  headers: Record<string, string>;
  body: Buffer;
}

/** A program that receives webhooks, running with one secret. */
export interface RunningExample {
  url: string;
  /** What it has printed so far. */
  output: () => string;
  stop: () => Promise<void>;
}

interface Language {
  file: string;
  command: readonly [string, ...string[]];
}

const RECEIVERS: readonly Language[] = [
  { file: 'receive.mjs', command: [process.execPath] },
  { file: 'receive.py', command: ['python3'] },
  { file: 'receive.go', command: ['go', 'run'] },
];

function isThere(program: string, file: string): boolean {
  // Go alone has no --version; asked for it, it is there all the same.
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined) return true;
  process.stdout.write(`left out: tests on ${file}, because ${program} is not on this machine\n`);
  return false;
}

/** The receivers whose language this machine has; says which are left out. */
export function findReceivers(): Language[] {
  return RECEIVERS.filter(({ file, command: [program] }) => isThere(program, file));
}

/** Whether the scripts for a shell can run; says so when not. */
export function hasOpenssl(): boolean {
  return isThere('openssl', 'verify.sh') && isThere('curl', 'send.sh');
}

function environment(secret: string): NodeJS.ProcessEnv {
  return { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' };
}

/** Starts a receiver and waits until it listens. */
export async function startExample({ file, command }: Language, secret: string): Promise<RunningExample> {
  const [program, ...args] = command;
  // A group of its own: `go run` starts the program as its child.
  const child = spawn(program, [...args, join(EXAMPLES, file)], {
    env: environment(secret),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const closed = once(child, 'close');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
  return {
    url: await addressOf(child, () => output),
    output: () => output,
    stop: async () => {
      send(-(child.pid ?? 0), 'SIGKILL');
      await closed;
    },
  };
}

async function addressOf(child: ChildProcess, output: () => string): Promise<string> {
  for (;;) {
    const url = /receiving at (\S+)/.exec(output())?.[1];
    if (url !== undefined) return url;
    const next = child.stdout && (await Promise.race([once(child.stdout, 'data'), once(child, 'close')]));
    if (!(next?.length === 1)) throw new Error(`the example ended before it listened: ${output()}`);
  }
}

/** Sends a message as it is; gives the status of the answer. */
export async function replay(url: string, { headers, body }: SignedMessage): Promise<number> {
  return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status;
}

/** Runs a script of the examples; gives its exit code with what it printed. */
export async function runScript(
  script: readonly [file: string, ...args: string[]],
  secret: string,
): Promise<{ code: number | null; output: string }> {
  const [file, ...args] = script;
  const child = spawn('sh', [join(EXAMPLES, file), ...args], { env: environment(secret) });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => (output += part));
  }
  await once(child, 'close');
  return { code: child.exitCode, output };
}

/** Whether verify.sh finds both signatures right. */
export async function isVerifiedByScript({ headers, body }: SignedMessage, secret: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'tessera-webhook-'));
  try {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    await writeFile(join(folder, 'headers.txt'), lines.join(''));
    await writeFile(join(folder, 'body.json'), body);
    const { code } = await runScript(['verify.sh', join(folder, 'headers.txt'), join(folder, 'body.json')], secret);
    return code === 0;
  } finally {
    await rm(folder, { recursive: true });
  }
}
