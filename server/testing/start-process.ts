import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { makeDataDir, removeDataDirs, send, signalPostgres } from './data-dirs.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'server/app/main.ts');
const READY = /is ready at (\S+)/;
const READY_TIMEOUT_MS = 30_000;

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The service as a process of its own, at the head of its own process group. */
export interface ServiceProcess {
  pid: number;
  dataDir: string;
  /** Where it listens; known once it is ready. */
  url: string;
  stdout: () => string;
  stderr: () => string;
  /** Its log lines at or above the level `warn`. */
  warnings: () => string[];
  exited: Promise<Ending>;
  /** Resolves when standard output holds the text. */
  waitForOutput: (text: string | RegExp) => Promise<void>;
  /** Signals the process alone. */
  signal: (name: NodeJS.Signals) => void;
  /** Signals the whole group, as a terminal does. */
  signalGroup: (name: NodeJS.Signals) => void;
  /** SIGTERM, and how it ended. */
  stop: () => Promise<Ending>;
  /** kill -9; its PostgreSQL goes on. */
  kill: () => Promise<void>;
  /** kill -9 of the service, its PostgreSQL and every process of that, at once. */
  killAll: () => Promise<void>;
}

export interface ProcessOptions {
  env?: Record<string, string>;
  /** A folder of its own by default; see `cleanUpProcesses`. */
  dataDir?: string;
  /** Starts it by `npm start`. */
  byNpm?: boolean;
}

const processes = new Set<ServiceProcess>();

/** Ends everything that was started, PostgreSQL included, and removes the folders. For `afterEach`. */
export async function cleanUpProcesses(): Promise<void> {
  for (const service of processes) await service.killAll();
  processes.clear();
  await removeDataDirs();
}

function collect(child: ChildProcess) {
  const text = { stdout: '', stderr: '' };
  let watchers: (() => void)[] = [];
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text.stdout += part;
    changed();
  });
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text.stderr += part;
  });
  const waitFor = async (wanted: string | RegExp, exited: Promise<Ending>): Promise<void> => {
    const isThere = (): boolean =>
      typeof wanted === 'string' ? text.stdout.includes(wanted) : wanted.test(text.stdout);
    const { promise, resolve: found, reject } = Promise.withResolvers<void>();
    const fail = (why: string): void =>
      reject(new Error(`${why} before it said ${String(wanted)}:\n${text.stdout}\n${text.stderr}`));
    const watcher = (): void => {
      if (isThere()) found();
    };
    watchers.push(watcher);
    const timer = setTimeout(() => fail('30 s went by'), READY_TIMEOUT_MS);
    void exited.then(({ code, signal }) => fail(`the process ended with ${signal ?? code}`));
    watcher();
    await promise.finally(() => {
      clearTimeout(timer);
      watchers = watchers.filter((other) => other !== watcher);
    });
  };
  return { text, waitFor };
}

async function endOf(child: ChildProcess): Promise<Ending> {
  // `close`, not `exit`: all of its output has been read by then.
  await once(child, 'close');
  return { code: child.exitCode, signal: child.signalCode };
}

/** Starts the service and gives it back at once; `exited` tells how it ended. Its log level is `info` unless set. */
export async function spawnProcess(options: ProcessOptions = {}): Promise<ServiceProcess> {
  const { env = {}, byNpm = false } = options;
  const dataDir = options.dataDir ?? (await makeDataDir());
  const [file, args] = byNpm ? ['npm', ['start', '--silent']] : [process.execPath, [MAIN]];
  const child = spawn(file, args, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { text, waitFor } = collect(child);
  const exited = endOf(child);
  const pid = child.pid ?? 0;
  const signalGroup = (name: NodeJS.Signals): void => send(-pid, name);
  const service: ServiceProcess = {
    pid,
    dataDir,
    get url() {
      return READY.exec(text.stdout)?.[1] ?? '';
    },
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    warnings: () => text.stdout.split('\n').filter((line) => /"level":"(warn|error|fatal)"/.test(line)),
    exited,
    waitForOutput: (wanted) => waitFor(wanted, exited),
    signal: (name) => send(pid, name),
    signalGroup,
    stop: () => {
      send(pid, 'SIGTERM');
      return exited;
    },
    kill: async () => {
      signalGroup('SIGKILL');
      await exited;
    },
    killAll: async () => {
      const postgres = signalPostgres(dataDir, 'SIGKILL');
      signalGroup('SIGKILL');
      await Promise.all([postgres, exited]);
    },
  };
  processes.add(service);
  return service;
}

/** Starts the service and waits until /readyz says so. */
export async function startProcess(options: ProcessOptions = {}): Promise<ServiceProcess> {
  const service = await spawnProcess(options);
  await service.waitForOutput(READY);
  return service;
}
