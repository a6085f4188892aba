import { describe, expect, test } from 'vitest';
import type { Clock } from '../../platform/clock/index.ts';
import { KeyMeter } from './key-meter.ts';

const LATE_EVENING = Date.UTC(2026, 0, 31, 23, 59, 30);

function movableClock(startMs: number): Clock & { advance: (ms: number) => void } {
  let now = startMs;
  return { nowMs: () => now, steadyMs: () => now - startMs, advance: (ms) => (now += ms) };
}

describe('the minute', () => {
  test('the request after the last allowed one is refused with the seconds to wait', () => {
    const clock = movableClock(Date.UTC(2026, 0, 1, 12));
    const meter = new KeyMeter(clock, '2026-01-01', 0);
    const limits = { perMinute: 3, perDay: 1000 };
    expect([1, 2, 3].map(() => meter.spend(limits).remaining)).toEqual([2, 1, 0]);
    clock.advance(20_000);
    expect(meter.spend(limits)).toMatchObject({ isAllowed: false, remaining: 0, retryAfterSeconds: 40 });
    clock.advance(40_000);
    expect(meter.spend(limits).isAllowed).toBe(true);
  });

  test('the reset time is when the oldest request leaves the window', () => {
    const clock = movableClock(Date.UTC(2026, 0, 1, 12));
    const meter = new KeyMeter(clock, '2026-01-01', 0);
    const limits = { perMinute: 3, perDay: 1000 };
    meter.spend(limits);
    clock.advance(15_000);
    expect(meter.spend(limits).resetAtSeconds).toBe(Date.UTC(2026, 0, 1, 12, 1) / 1000);
  });
});

describe('the day', () => {
  test('it goes on from what the database holds, and ends at UTC midnight', () => {
    const clock = movableClock(LATE_EVENING);
    const meter = new KeyMeter(clock, '2026-01-31', 998);
    const limits = { perMinute: 100, perDay: 1000 };
    expect([1, 2, 3].map(() => meter.spend(limits).isAllowed)).toEqual([true, true, false]);
    expect(meter.spend(limits)).toMatchObject({
      retryAfterSeconds: 30,
      resetAtSeconds: Date.UTC(2026, 1, 1) / 1000,
      refusal: 'The limit of 1000 requests per day is used up.',
    });
    clock.advance(30_000);
    expect(meter.today).toBe(1000);
    expect(meter.spend(limits)).toMatchObject({ isAllowed: true });
    expect(meter.today).toBe(1);
  });

  test('what other processes counted is known after the next batch', () => {
    const meter = new KeyMeter(movableClock(LATE_EVENING), '2026-01-31', 5);
    const limits = { perMinute: 100, perDay: 1000 };
    meter.spend(limits);
    meter.spend(limits);
    meter.settle({ day: '2026-01-31', added: 1, total: 46 });
    expect(meter.today).toBe(47);
    expect(meter.unstored).toBe(1);
  });

  test('a batch of yesterday changes nothing today', () => {
    const clock = movableClock(LATE_EVENING);
    const meter = new KeyMeter(clock, '2026-01-31', 5);
    clock.advance(60_000);
    meter.spend({ perMinute: 100, perDay: 1000 });
    meter.settle({ day: '2026-01-31', added: 1, total: 6 });
    expect(meter.today).toBe(1);
  });
});
