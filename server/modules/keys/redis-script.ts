import type { Result } from 'ioredis';

/**
 * One atomic decision, by Redis's own clock. KEYS: log of the minute (sorted set), count of the day.
 * ARGV: per minute, per day, window ms, the caller's known count of the day, ms until the day's count expires.
 * Answers: 1 allowed, 0 minute used up, -1 day used up; then events in the window, ms until the oldest leaves (or,
 * when the minute is used up, until there is room again), count of the day.
 */
export const SPEND_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local used = redis.call('ZCARD', KEYS[1])
local today = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[4]))
local verdict = 1
local next = 0
if today >= tonumber(ARGV[2]) then verdict = -1
elseif used >= tonumber(ARGV[1]) then
  verdict = 0
  next = used - ARGV[1]
else
  used = used + 1
  today = today + 1
  redis.call('ZADD', KEYS[1], now, time[1] .. ':' .. time[2] .. ':' .. used .. ':' .. today)
  redis.call('PEXPIRE', KEYS[1], window)
  redis.call('SET', KEYS[2], today, 'PX', ARGV[5])
end
local leaving = redis.call('ZRANGE', KEYS[1], next, next, 'WITHSCORES')
local wait = 0
if leaving[2] then wait = leaving[2] + window - now end
return {verdict, used, wait, today}
`;

export type SpendAnswer = [verdict: number, used: number, waitMs: number, today: number];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    spendRequest(minuteKey: string, dayKey: string, ...args: number[]): Result<SpendAnswer, Context>;
  }
}
