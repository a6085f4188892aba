import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

function paceWithClock(): { pace: Pace; advance: (ms: number) => void } {
  let now = 1_000_000;
  const pace = new Pace({ nowMs: () => now, steadyMs: () => now });
  return { pace, advance: (ms) => (now += ms) };
}

test('runs that wait are taken on in small portions while the API is called, and in large ones soon after', () => {
  const { pace, advance } = paceWithClock();
  const full = pace.portion();
  pace.noteCall();
  const gentle = pace.portion();
  expect(gentle.most).toBeLessThan(full.most);
  expect(gentle.pauseMs).toBeGreaterThan(full.pauseMs);
  advance(99);
  expect(pace.portion()).toEqual(gentle);
  advance(1);
  expect(pace.portion()).toEqual(full);
});

test('runs that have waited long give way no more, until they are few again', () => {
  const { pace } = paceWithClock();
  const full = pace.portion();
  pace.noteCall();
  pace.noteWait(29_999);
  expect(pace.portion()).not.toEqual(full);
  pace.noteWait(30_000);
  expect(pace.portion()).toEqual(full);
  pace.noteWait(1000);
  expect(pace.portion()).toEqual(full);
  pace.noteWait(0);
  expect(pace.portion()).not.toEqual(full);
});

test('at least 600 runs a second are taken on whatever the API does', () => {
  const { pace } = paceWithClock();
  pace.noteCall();
  const { most, pauseMs } = pace.portion();
  expect((most / pauseMs) * 1000).toBeGreaterThanOrEqual(600);
});
