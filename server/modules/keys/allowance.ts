import { nextUtcMidnightMs } from '../../platform/clock/index.ts';
import type { Allowance } from '../../platform/http/index.ts';
import type { TierLimits } from './tier-limits.ts';

/** Where a key stands right after one of its requests was allowed. */
interface Standing {
  nowMs: number;
  /** Requests of the sliding minute and of the UTC day, this one included. */
  inMinute: number;
  inDay: number;
  /** Until the oldest request leaves the minute. */
  waitMs: number;
}

/** What is left of the limit that ends first, and when there will be more. */
export function allow(limits: TierLimits, { nowMs, inMinute, inDay, waitMs }: Standing): Allowance {
  const leftOfMinute = Math.max(0, limits.perMinute - inMinute);
  const leftOfDay = Math.max(0, limits.perDay - inDay);
  const isDayFirst = leftOfDay < leftOfMinute;
  return {
    isAllowed: true,
    limit: limits.perMinute,
    remaining: isDayFirst ? leftOfDay : leftOfMinute,
    resetAtSeconds: Math.ceil((isDayFirst ? nextUtcMidnightMs(nowMs) : nowMs + waitMs) / 1000),
  };
}

export function refuseMinute({ perMinute }: TierLimits, nowMs: number, waitMs: number): Allowance {
  const reason = `The limit of ${perMinute} requests per minute is used up.`;
  return refuse(perMinute, { nowMs, waitMs, reason });
}

export function refuseDay({ perMinute, perDay }: TierLimits, nowMs: number): Allowance {
  const reason = `The limit of ${perDay} requests per day is used up.`;
  return refuse(perMinute, { nowMs, waitMs: nextUtcMidnightMs(nowMs) - nowMs, reason });
}

/** A refusal. Whoever waits for as long as it says is not refused for the same reason again. */
export function refuse(limit: number, why: { nowMs: number; waitMs: number; reason: string }): Allowance {
  return {
    isAllowed: false,
    limit,
    remaining: 0,
    resetAtSeconds: Math.ceil((why.nowMs + why.waitMs) / 1000),
    retryAfterSeconds: Math.max(1, Math.ceil(why.waitMs / 1000)),
    refusal: why.reason,
  };
}
