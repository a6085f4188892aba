import { describe, expect, test } from 'vitest';
import { KeyMeter } from './key-meter.ts';
import { movableClock } from './movable-clock.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const LATE_EVENING = Date.UTC(2026, 0, 31, 23, 59, 30);

describe('the minute', () => {
  test('the request after the last allowed one is refused with the seconds to wait', () => {
    const clock = movableClock(NOON);
    const meter = new KeyMeter(clock, '2026-01-01', 0);
    const limits = { perMinute: 3, perDay: 1000 };
    expect([1, 2, 3].map(() => meter.spend(limits).remaining)).toEqual([2, 1, 0]);
    clock.advance(20_000);
    expect(meter.spend(limits)).toMatchObject({ isAllowed: false, remaining: 0, retryAfterSeconds: 40 });
    clock.advance(40_000);
    expect(meter.spend(limits).isAllowed).toBe(true);
  });

  test('the reset time is when the oldest request leaves the window', () => {
    const clock = movableClock(NOON);
    const meter = new KeyMeter(clock, '2026-01-01', 0);
    const limits = { perMinute: 3, perDay: 1000 };
    meter.spend(limits);
    clock.advance(15_000);
    expect(meter.spend(limits).resetAtSeconds).toBe(Date.UTC(2026, 0, 1, 12, 1) / 1000);
  });

  test('after a limit was lowered the wait is until there is room under the new one', () => {
    const clock = movableClock(NOON);
    const meter = new KeyMeter(clock, '2026-01-01', 0);
    for (let second = 0; second < 5; second++) {
      meter.spend({ perMinute: 500, perDay: 1000 });
      clock.advance(1000);
    }
    const lowered = { perMinute: 2, perDay: 1000 };
    expect(meter.spend(lowered)).toMatchObject({ isAllowed: false, retryAfterSeconds: 58 });
    clock.advance(58_000);
    expect(meter.spend(lowered).isAllowed).toBe(true);
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
    expect(meter.today).toBe(0);
    expect(meter.spend(limits)).toMatchObject({ isAllowed: true });
    expect(meter.today).toBe(1);
  });

  test('when less is left of the day than of the minute, that is what remains, until midnight', () => {
    const meter = new KeyMeter(movableClock(LATE_EVENING), '2026-01-31', 997);
    const limits = { perMinute: 100, perDay: 1000 };
    const midnight = Date.UTC(2026, 1, 1) / 1000;
    expect(meter.spend(limits)).toMatchObject({ limit: 100, remaining: 2, resetAtSeconds: midnight });
  });
});

describe('totals of the database', () => {
  const limits = { perMinute: 100, perDay: 1000 };
  const day = '2026-01-31';

  test('what other processes counted is known after the next batch', () => {
    const meter = new KeyMeter(movableClock(LATE_EVENING), day, 5);
    meter.spend(limits);
    meter.spend(limits);
    meter.settle({ day, total: 46, lastBatch: 1 }, 1);
    expect(meter.today).toBe(47);
  });

  test('a batch of yesterday changes nothing today', () => {
    const clock = movableClock(LATE_EVENING);
    const meter = new KeyMeter(clock, day, 5);
    meter.spend(limits);
    clock.advance(60_000);
    meter.spend(limits);
    meter.settle({ day, total: 6, lastBatch: 1 }, 1);
    expect(meter.today).toBe(1);
  });

  test('a request that arrived before midnight and was admitted after it counts on the day it arrived', () => {
    const clock = movableClock(LATE_EVENING);
    const meter = new KeyMeter(clock, day, 5);
    meter.spend(limits);
    clock.advance(30_000);
    meter.spend(limits);
    meter.settle({ day, total: 7, lastBatch: 1 }, 2);
    expect(meter.today).toBe(0);
  });

  test('a total that was read counts each request once, whatever of this process it holds', () => {
    const meter = new KeyMeter(movableClock(LATE_EVENING), day, 0);
    for (let i = 0; i < 4; i++) meter.spend(limits);
    // Two of the four are in the total of 12, in a batch whose commit is not known here yet.
    meter.learn({ day, total: 12, lastBatch: 1 }, 2);
    expect(meter.today).toBe(14);
    meter.settle({ day, total: 13, lastBatch: 1 }, 2);
    expect(meter.today).toBe(15);
  });

  test('a total read before the last batch is not believed', () => {
    const meter = new KeyMeter(movableClock(LATE_EVENING), day, 0);
    meter.spend(limits);
    meter.settle({ day, total: 1, lastBatch: 1 }, 1);
    meter.learn({ day, total: 50, lastBatch: 0 }, 0);
    expect(meter.today).toBe(1);
  });

  test('a total of yesterday is not believed today', () => {
    const clock = movableClock(LATE_EVENING);
    const meter = new KeyMeter(clock, day, 5);
    clock.advance(60_000);
    meter.spend(limits);
    meter.learn({ day, total: 5, lastBatch: 0 }, 0);
    expect(meter.today).toBe(1);
  });
});

test('a meter is idle a minute after its last use, once everything is stored', () => {
  const clock = movableClock(NOON);
  const meter = new KeyMeter(clock, '2026-01-01', 0);
  meter.spend({ perMinute: 1, perDay: 1 });
  clock.advance(60_001);
  expect(meter.isIdle).toBe(false);
  meter.settle({ day: '2026-01-01', total: 1, lastBatch: 1 }, 1);
  expect(meter.isIdle).toBe(true);
});
