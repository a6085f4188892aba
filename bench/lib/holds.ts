import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchService } from './service.ts';

const PRELOAD = new URL('loop-delay.ts', import.meta.url).href;

/** Where a service that is started with `env` says how long it kept its event loop from others. */
export class Holds {
  readonly #file = join(tmpdir(), `tessera-bench-hold-${process.pid}`);

  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--import ${PRELOAD}`, LOOP_DELAY_FILE: this.#file };
  }

  /** The longest hold since the last call, in milliseconds. */
  async longestMs({ child }: BenchService): Promise<number> {
    await rm(this.#file, { force: true });
    child.process.kill('SIGUSR2');
    for (;;) {
      const text = await readFile(this.#file, 'utf8').catch(() => undefined);
      if (text !== undefined) return Number(text);
      await sleep(5);
    }
  }

  close(): Promise<void> {
    return rm(this.#file, { force: true });
  }
}
