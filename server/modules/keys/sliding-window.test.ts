import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts';

test('the window counts exactly the events of the last minute', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 300 });
  fc.assert(
    fc.property(gaps, (steps) => {
      const window = new SlidingWindow();
      const events: number[] = [];
      let now = 1000;
      for (const gap of steps) {
        now += gap;
        const expected = events.filter((at) => at > now - WINDOW_MS);
        expect(window.count(now)).toBe(expected.length);
        const wait = expected[0] === undefined ? 0 : expected[0] + WINDOW_MS - now;
        expect(window.msUntilNextLeaves(now)).toBe(wait);
        window.add(now);
        events.push(now);
      }
    }),
  );
});

test('events of one millisecond share a slot and leave together', () => {
  const window = new SlidingWindow();
  for (let i = 0; i < 10_000; i++) window.add(5);
  expect(window.count(5 + WINDOW_MS - 1)).toBe(10_000);
  expect(window.count(5 + WINDOW_MS)).toBe(0);
});
