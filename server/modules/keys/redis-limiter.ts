import { once } from 'node:events';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { nextUtcMidnightMs, utcDay, type Clock } from '../../platform/clock/index.ts';
import { errorMessage } from '../../platform/errors/index.ts';
import type { Allowance } from '../../platform/http/index.ts';
import { allow, refuseDay, refuseMinute } from './allowance.ts';
import { AnswerWatch } from './answer-watch.ts';
import { SPEND_SCRIPT, type SpendAnswer } from './redis-script.ts';
import { WINDOW_MS } from './sliding-window.ts';
import type { TierLimits } from './tier-limits.ts';

/** For the greeting of a connection; a decision is waited for less long, see AnswerWatch. */
const CONNECT_TIMEOUT_MS = 1000;
const MAX_RECONNECT_MS = 1000;

export interface RedisLimiterOptions {
  url: string;
  clock: Clock;
  log: Logger;
}

interface Spending {
  keyId: string;
  limits: TierLimits;
  /** Requests of today that this process knows of; Redis's own count never falls below it. */
  knownToday: number;
}

/** The library is loaded only where there is a Redis. */
async function connect(url: string): Promise<Redis> {
  const { Redis: Client } = await import('ioredis');
  try {
    return new Client(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: CONNECT_TIMEOUT_MS,
      // A peer that stopped answering does not answer a farewell either.
      disconnectTimeout: 0,
      retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_MS),
      scripts: { spendRequest: { lua: SPEND_SCRIPT, numberOfKeys: 2 } },
    });
  } catch (error) {
    throw new Error('REDIS_URL holds a user name or password that is not validly percent-encoded.', { cause: error });
  }
}

/** Limits shared by all processes through Redis or Valkey. Says `undefined` when Redis cannot decide now. */
export class RedisLimiter {
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #watch: AnswerWatch;
  #isAway = false;
  #isClosed = false;

  private constructor(redis: Redis, { clock, log }: RedisLimiterOptions) {
    this.#redis = redis;
    this.#clock = clock;
    this.#log = log;
    this.#watch = new AnswerWatch(() => this.#breakOff());
    redis.on('error', (error) => this.#warn(error));
    redis.on('close', () => this.#warn(new Error('the connection was closed')));
  }

  /** Resolves when limits are shared from the first request on, or when that has to wait for Redis. */
  static async open(options: RedisLimiterOptions): Promise<RedisLimiter> {
    const redis = await connect(options.url);
    const limiter = new RedisLimiter(redis, options);
    await Promise.race([once(redis, 'ready'), once(redis, 'close')]).catch(() => undefined);
    return limiter;
  }

  get isReady(): boolean {
    return this.#redis.status === 'ready';
  }

  async spend({ keyId, limits, knownToday }: Spending): Promise<Allowance | undefined> {
    const nowMs = this.#clock.nowMs();
    const dayKey = `tessera:{${keyId}}:day:${utcDay(nowMs)}`;
    const dayExpiresMs = nextUtcMidnightMs(nowMs) - nowMs + WINDOW_MS;
    const args = [limits.perMinute, limits.perDay, WINDOW_MS, knownToday, dayExpiresMs];
    this.#watch.ask();
    try {
      const answer = await this.#redis.spendRequest(`tessera:{${keyId}}:minute`, dayKey, ...args);
      if (this.#isAway) this.#recover();
      return this.#allowanceOf(answer, limits);
    } catch (error) {
      this.#warn(error);
      return undefined;
    } finally {
      this.#watch.answer();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch.stop();
    this.#redis.disconnect();
    return Promise.resolve();
  }

  #allowanceOf([verdict, inMinute, waitMs, inDay]: SpendAnswer, limits: TierLimits): Allowance {
    const nowMs = this.#clock.nowMs();
    if (verdict < 0) return refuseDay(limits, nowMs);
    if (verdict === 0) return refuseMinute(limits, nowMs, waitMs);
    return allow(limits, { nowMs, inMinute, inDay, waitMs });
  }

  /** Gives up every question at once; the library goes on trying to connect. */
  #breakOff(): void {
    this.#warn(new Error('no answer came in time'));
    this.#redis.disconnect(true);
  }

  #warn(error: unknown): void {
    if (this.#isAway || this.#isClosed) return;
    this.#isAway = true;
    this.#log.warn(
      { reason: errorMessage(error) },
      'Redis does not answer: each process counts limits for itself until it does',
    );
  }

  #recover(): void {
    this.#isAway = false;
    this.#log.info('Redis answers again: limits are shared between processes');
  }
}
