import type { Logger } from 'pino';
import { notifyChange, type ChangeFeed, type Database } from '../../platform/db/index.ts';
import { errorMessage } from '../../platform/errors/index.ts';
import { createId } from '../../platform/ids/index.ts';
import type { BaseKey } from './store/base.store.ts';

const TOPIC = 'knowledge';
/** How long news gather before they are told together. */
const DELAY_MS = 50;

export interface NewsOptions {
  database: Database;
  changes: Pick<ChangeFeed, 'on'>;
  log: Logger;
  /** Told of bases in which another process has written something, or which it has deleted. */
  onHeard: (base: BaseKey) => void;
}

/**
 * Tells other processes which bases were written to, after the commit and without anybody waiting. It is for speed alone:
 * queries look at counters, and what embeds looks at all bases now and then.
 */
export class News {
  readonly #options: NewsOptions;
  readonly #process = createId('proc');
  readonly #waiting = new Map<number, BaseKey>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: NewsOptions) {
    this.#options = options;
    options.changes.on(TOPIC, (key) => {
      const [process, developerId = '', id = '', no] = key.split(' ');
      if (process !== this.#process) options.onHeard({ developerId, id, no: Number(no) });
    });
  }

  tell(base: BaseKey): void {
    this.#waiting.set(base.no, base);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#sending = this.#sending.then(() => this.#send());
    }, DELAY_MS).unref();
  }

  /** Tells what waits. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sending;
    await this.#send();
  }

  async #send(): Promise<void> {
    const bases = [...this.#waiting.values()];
    this.#waiting.clear();
    if (bases.length === 0) return;
    try {
      await this.#options.database.transaction(async (tx) => {
        for (const { developerId, id, no } of bases) {
          await notifyChange(tx, TOPIC, [this.#process, developerId, id, no].join(' '));
        }
      });
    } catch (error) {
      this.#options.log.debug(`other processes were not told of changed bases: ${errorMessage(error)}`);
    }
  }
}
