import type { Redis, Result } from 'ioredis';
import type { Logger } from 'pino';
import { nextUtcMidnightMs, utcDay, type Clock } from '../../platform/clock/index.ts';
import { errorMessage } from '../../platform/errors/index.ts';
import type { Allowance } from '../../platform/http/index.ts';
import { refusal } from './key-meter.ts';
import { WINDOW_MS } from './sliding-window.ts';
import type { TierLimits } from './tier-limits.ts';

/** An answer later than this is not worth waiting for: the local meters decide instead. */
const COMMAND_TIMEOUT_MS = 250;
const MAX_RECONNECT_MS = 1000;

/**
 * One atomic decision, by Redis's own clock. KEYS: log of the minute (sorted set), count of the day.
 * ARGV: per minute, per day, window ms, the caller's known count of the day, ms until the day's count expires.
 * Answers: 1 allowed, 0 minute used up, -1 day used up; then events in the window, ms until the oldest leaves,
 * count of the day.
 */
const SPEND_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local used = redis.call('ZCARD', KEYS[1])
local today = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[4]))
local verdict = 1
if today >= tonumber(ARGV[2]) then verdict = -1
elseif used >= tonumber(ARGV[1]) then verdict = 0
else
  used = used + 1
  today = today + 1
  redis.call('ZADD', KEYS[1], now, time[1] .. ':' .. time[2] .. ':' .. used .. ':' .. today)
  redis.call('PEXPIRE', KEYS[1], window)
  redis.call('SET', KEYS[2], today, 'PX', ARGV[5])
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local wait = 0
if oldest[2] then wait = oldest[2] + window - now end
return {verdict, used, wait, today}
`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    spendRequest(
      minuteKey: string,
      dayKey: string,
      ...args: number[]
    ): Result<[verdict: number, used: number, waitMs: number, today: number], Context>;
  }
}

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

/** Limits shared by all processes through Redis or Valkey. Says `undefined` when Redis cannot decide now. */
export class RedisLimiter {
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #log: Logger;
  #hasWarned = false;

  private constructor(redis: Redis, { clock, log }: RedisLimiterOptions) {
    this.#redis = redis;
    this.#clock = clock;
    this.#log = log;
    redis.on('error', (error) => this.#warn(error));
    redis.on('ready', () => this.#recover());
  }

  /** Connects in the background. The library is loaded only where there is a Redis. */
  static async open(options: RedisLimiterOptions): Promise<RedisLimiter> {
    const { Redis: Client } = await import('ioredis');
    const redis = new Client(options.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2000,
      commandTimeout: COMMAND_TIMEOUT_MS,
      retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_MS),
      scripts: { spendRequest: { lua: SPEND_SCRIPT, numberOfKeys: 2 } },
    });
    const limiter = new RedisLimiter(redis, options);
    await limiter.#firstAnswer();
    return limiter;
  }

  get isReady(): boolean {
    return this.#redis.status === 'ready';
  }

  async spend({ keyId, limits, knownToday }: Spending): Promise<Allowance | undefined> {
    const nowMs = this.#clock.nowMs();
    const dayKey = `tessera:{${keyId}}:day:${utcDay(nowMs)}`;
    const msLeft = nextUtcMidnightMs(nowMs) - nowMs;
    const args = [limits.perMinute, limits.perDay, WINDOW_MS, knownToday, msLeft + WINDOW_MS];
    try {
      const answer = await this.#redis.spendRequest(`tessera:{${keyId}}:minute`, dayKey, ...args);
      return this.#allowanceOf(answer, limits, msLeft);
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
    return Promise.resolve();
  }

  #allowanceOf(answer: [number, number, number, number], limits: TierLimits, msLeftOfDay: number): Allowance {
    const [verdict, used, waitMs, today] = answer;
    const { perMinute, perDay } = limits;
    if (verdict < 0) {
      const reason = `The limit of ${perDay} requests per day is used up.`;
      return refusal(this.#clock, perMinute, { waitMs: msLeftOfDay, reason });
    }
    if (verdict === 0) {
      const reason = `The limit of ${perMinute} requests per minute is used up.`;
      return refusal(this.#clock, perMinute, { waitMs, reason });
    }
    return {
      isAllowed: true,
      limit: perMinute,
      remaining: Math.max(0, Math.min(perMinute - used, perDay - today)),
      resetAtSeconds: Math.ceil((this.#clock.nowMs() + waitMs) / 1000),
    };
  }

  /** Waits for the first connection, so that limits are shared from the first request on; gives up quietly. */
  async #firstAnswer(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#redis.once('ready', resolve);
    this.#redis.once('error', () => resolve());
    await promise;
  }

  #warn(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warn(
      { reason: errorMessage(error) },
      'Redis does not answer: each process counts limits for itself until it does',
    );
  }

  #recover(): void {
    if (this.#hasWarned) this.#log.info('Redis answers again: limits are shared between processes');
    this.#hasWarned = false;
  }
}
