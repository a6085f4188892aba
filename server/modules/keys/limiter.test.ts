import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Allowance, Caller } from '../../platform/http/index.ts';
import { Limiter, type LimiterOptions } from './limiter.ts';
import { movableClock } from './movable-clock.ts';

const START = Date.UTC(2026, 0, 31, 12);
const LIMITS: LimiterOptions['limits'] = {
  free: { perMinute: 10, perDay: 1000 },
  basic: { perMinute: 100, perDay: 10_000 },
  pro: { perMinute: 500, perDay: 100_000 },
  enterprise: { perMinute: 10_000, perDay: 10_000_000 },
};

let limiter: Limiter | undefined;
afterEach(() => limiter?.close());

function openLimiter(redis?: LimiterOptions['redis']) {
  const clock = movableClock(START);
  limiter = new Limiter({ clock, limits: LIMITS, redis });
  return { clock, limiter };
}

function callerOf(tier: Caller['tier'], keyId = 'key_a'): Caller {
  return { keyId, developerId: 'dev_a', permissions: ['read'], tier, isOperator: false };
}

function spendAlone(alone: Limiter, caller: Caller): Allowance {
  const allowance = alone.spend(caller);
  if (allowance instanceof Promise) throw new Error('without Redis an answer is never waited for');
  return allowance;
}

describe('against a log that is searched anew for every request', () => {
  const bursts = fc.array(
    fc.record({ pauseMs: fc.integer({ min: 0, max: 20_000 }), requests: fc.integer({ min: 1, max: 300 }) }),
    { minLength: 1, maxLength: 40 },
  );

  test.each(['free', 'basic', 'pro'] as const)('%s: exactly what fits in each 60 s passes', async (tier) => {
    const { perMinute, perDay } = LIMITS[tier];
    await fc.assert(
      fc.asyncProperty(bursts, async (plan) => {
        const { clock, limiter: alone } = openLimiter();
        const passed: number[] = [];
        for (const { pauseMs, requests } of plan) {
          clock.advance(pauseMs);
          for (let i = 0; i < requests; i++) {
            const now = clock.nowMs();
            const inWindow = passed.filter((at) => at > now - 60_000).length;
            const isExpected = inWindow < perMinute && passed.length < perDay;
            const allowance = spendAlone(alone, callerOf(tier));
            expect(allowance.isAllowed).toBe(isExpected);
            expect(allowance.resetAtSeconds * 1000).toBeGreaterThanOrEqual(now);
            if (isExpected) passed.push(now);
          }
        }
        expect(alone.meter('key_a')?.today).toBe(passed.length);
        await alone.close();
      }),
      { numRuns: 25 },
    );
  });

  test('whoever waits for Retry-After is let in', async () => {
    await fc.assert(
      fc.asyncProperty(bursts, async (plan) => {
        const { clock, limiter: alone } = openLimiter();
        for (const { pauseMs, requests } of plan) {
          clock.advance(pauseMs);
          for (let i = 0; i < requests; i++) {
            const { retryAfterSeconds } = spendAlone(alone, callerOf('free'));
            if (retryAfterSeconds === undefined) continue;
            expect(Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1).toBe(true);
            clock.advance(retryAfterSeconds * 1000);
            expect(spendAlone(alone, callerOf('free')).isAllowed).toBe(true);
          }
        }
        await alone.close();
      }),
      { numRuns: 25 },
    );
  });
});

test('keys that nobody uses for a minute are forgotten, others are not', () => {
  const { clock, limiter: alone } = openLimiter();
  for (let i = 0; i < 1000; i++) alone.open(`key_${i}`, { day: '2026-01-31', stored: 7 });
  alone.open('key_used', { day: '2026-01-31', stored: 7 });
  spendAlone(alone, callerOf('free', 'key_used'));
  clock.advance(60_001);
  alone.sweep();
  expect(alone.meter('key_1')).toBeUndefined();
  expect(alone.meter('key_used')?.today).toBe(8);
});

describe('with a Redis', () => {
  /** A Redis that lost its data and now allows everything. */
  const forgetful = {
    isReady: true,
    spend: () =>
      Promise.resolve({ isAllowed: true, limit: 10, remaining: 9, resetAtSeconds: START / 1000 + 60 } as const),
    close: () => Promise.resolve(),
  };

  test('one that lost its data opens no second allowance', async () => {
    const { limiter: shared } = openLimiter(forgetful);
    const answers = await Promise.all(Array.from({ length: 30 }, async () => shared.spend(callerOf('free'))));
    expect(answers.filter(({ isAllowed }) => isAllowed)).toHaveLength(10);
    expect(answers.slice(0, 10).map(({ remaining }) => remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  test('after midnight it is not told the count of the day before', async () => {
    const told: number[] = [];
    const { clock, limiter: shared } = openLimiter({
      ...forgetful,
      spend: ({ knownToday }) => {
        told.push(knownToday);
        return forgetful.spend();
      },
    });
    shared.open('key_a', { day: '2026-01-31', stored: 900 });
    await shared.spend(callerOf('free'));
    clock.advance(12 * 3_600_000);
    await shared.spend(callerOf('free'));
    expect(told).toEqual([900, 0]);
  });

  test('refused by Redis, a request uses nothing up here', async () => {
    const refusal = { isAllowed: false, limit: 10, remaining: 0, resetAtSeconds: 0, retryAfterSeconds: 1 };
    const { limiter: shared } = openLimiter({ ...forgetful, spend: () => Promise.resolve(refusal) });
    expect(await shared.spend(callerOf('free'))).toBe(refusal);
    expect(shared.meter('key_a')?.today).toBe(0);
  });
});
