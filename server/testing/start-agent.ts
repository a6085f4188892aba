import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const TIMEOUT_MS = 20_000;

/** `tessera agent` as a process of its own. */
export interface AgentProcess {
  output: () => string;
  /** Resolves when the output holds the text; rejects when the process ends before that. */
  waitFor: (text: string | RegExp) => Promise<void>;
  /** Types a line on its standard input. */
  type: (line: string) => void;
  signal: (name: NodeJS.Signals) => void;
  exited: Promise<{ code: number | null }>;
}

const running = new Set<AgentProcess>();

/** Ends every agent that was started. For `afterEach`. */
export async function cleanUpAgents(): Promise<void> {
  for (const agent of running) agent.signal('SIGKILL');
  await Promise.all([...running].map(({ exited }) => exited));
  running.clear();
}

/** Starts the program with these arguments; give the key as TESSERA_API_KEY. */
export function startAgent(args: readonly string[], env: Record<string, string> = {}): AgentProcess {
  const child = spawn(process.execPath, ['agent/main.ts', 'agent', ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...env },
  });
  let output = '';
  const watchers: (() => void)[] = [];
  const changed = (): void => {
    for (const watcher of watchers.splice(0)) watcher();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      changed();
    });
  }
  const exited = once(child, 'close').then(() => ({ code: child.exitCode }));
  void exited.then(changed);
  const has = (text: string | RegExp): boolean =>
    typeof text === 'string' ? output.includes(text) : text.test(output);
  const agent: AgentProcess = {
    output: () => output,
    waitFor: async (text) => {
      const deadline = performance.now() + TIMEOUT_MS;
      while (!has(text)) {
        const isOver = child.exitCode !== null || performance.now() > deadline;
        if (isOver) throw new Error(`the agent did not say ${String(text)}:\n${output}`);
        await new Promise<void>((wake) => {
          const timer = setTimeout(wake, TIMEOUT_MS);
          watchers.push(() => {
            clearTimeout(timer);
            wake();
          });
        });
      }
    },
    type: (line) => child.stdin.write(`${line}\n`),
    signal: (name) => child.kill(name),
    exited,
  };
  running.add(agent);
  return agent;
}
