import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Shares } from './shares.ts';

/** Begins as many runs as a developer may. */
function fill(shares: Shares, developerId: string): number {
  let begun = 0;
  for (; shares.mayBegin(developerId); begun++) shares.begin(developerId);
  return begun;
}

test('one developer gets half of the places, the next half of what is left, and one who comes late still some', () => {
  const shares = new Shares(512);
  expect(fill(shares, 'a')).toBe(256);
  expect(fill(shares, 'b')).toBe(128);
  expect(fill(shares, 'c')).toBe(64);
  expect(fill(shares, 'd')).toBeGreaterThan(0);
});

test('who has runs that wait begins no new one before them', () => {
  const shares = new Shares(4);
  fill(shares, 'a');
  shares.end('a');
  expect(shares.mayBegin('a')).toBe(false);
  expect(shares.isAnyoneDue).toBe(true);
  shares.noteBehind(new Set());
  expect(shares.mayBegin('a')).toBe(true);
});

test('who could be given nothing stays behind', () => {
  const shares = new Shares(4);
  fill(shares, 'a');
  shares.noteBehind(new Set());
  shares.end('a');
  expect(shares.mayBegin('a')).toBe(false);
});

test('a look that was cut short says nothing of those it did not come to', () => {
  const shares = new Shares(4);
  fill(shares, 'a');
  shares.end('a');
  shares.addBehind(['b']);
  expect(shares.mayBegin('a')).toBe(false);
  expect(shares.mayBegin('b')).toBe(false);
});

test('whatever begins and ends, places are never overbooked by allowances, and a free place is open to a newcomer', () => {
  const event = fc.record({ developerId: fc.constantFrom('a', 'b', 'c'), isEnd: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(event, { maxLength: 200 }), (capacity, events) => {
      const shares = new Shares(capacity);
      const active = new Map<string, number>();
      for (const { developerId, isEnd } of events) {
        const count = active.get(developerId) ?? 0;
        if (isEnd && count > 0) {
          shares.end(developerId);
          active.set(developerId, count - 1);
        } else if (!isEnd && shares.allowance(developerId) > 0) {
          shares.begin(developerId);
          active.set(developerId, count + 1);
        }
        expect(shares.free).toBeGreaterThanOrEqual(0);
        expect(shares.allowance('newcomer') > 0).toBe(shares.free > 0);
      }
    }),
  );
});
