import { beforeEach, expect, test } from 'vitest';
import type { Consignment } from './delivery.ts';
import { Lane, type WaitingMeter } from './lane.ts';

const KEY = { developerId: 'dev_1', subscriptionId: 'hook_1' };
let lane: Lane;
let meter: WaitingMeter;

beforeEach(() => {
  meter = { length: 0 };
  lane = new Lane(KEY, meter);
});

function consignment(id: string): Consignment {
  const message = { id: 'evt_1', event: 'graph.synced' as const, body: '{}', createdAt: new Date(0) };
  const secrets = { secret: null, previousSecret: null, previousSecretUntil: null };
  return { id, destination: { ...KEY, url: 'http://localhost', ...secrets }, message, attemptCount: 0 };
}

function fill(count: number): void {
  for (let i = 0; i < count; i++) lane.add(consignment(`dlv_${i}`), 0);
}

/** Begins as many attempts as the window allows. */
function begin(nowMs = 0): string[] {
  const begun: string[] = [];
  for (let next = lane.next(nowMs); next; next = lane.next(nowMs)) begun.push(next.id);
  return begun;
}

test('attempts begin in order, as many at once as the window allows', () => {
  fill(20);
  expect(begin()).toEqual(Array.from({ length: 8 }, (_, i) => `dlv_${i}`));
  lane.ended({ hasSucceeded: true, durationMs: 1 }, 0);
  expect(begin()).toEqual(['dlv_8', 'dlv_9']);
});

test('a receiver that hangs ends with one attempt at a time', () => {
  fill(200);
  let underWay = begin().length;
  while (underWay > 1) {
    lane.ended({ hasSucceeded: false, durationMs: 1 }, 0);
    underWay += begin().length - 1;
  }
  lane.ended({ hasSucceeded: false, durationMs: 1 }, 0);
  expect(begin()).toHaveLength(1);
  expect(lane.room).toBe(0);
});

test('success widens the window to 64 and no further', () => {
  fill(300);
  let underWay = begin().length;
  for (let i = 0; i < 100; i++) {
    lane.ended({ hasSucceeded: true, durationMs: 1 }, 0);
    underWay += begin().length - 1;
  }
  expect(underWay).toBe(64);
});

test('what has waited so long that its lease could end is left to be found again', () => {
  fill(1);
  expect(begin(18_001)).toEqual([]);
  expect(lane.hasMore).toBe(true);
});

test('a lane is kept while it has work, and for an hour while its receiver does badly', () => {
  expect(lane.isIdle(0)).toBe(true);
  fill(1);
  expect(lane.isIdle(0)).toBe(false);
  begin();
  expect(lane.isIdle(0)).toBe(false);
  lane.ended({ hasSucceeded: false, durationMs: 1 }, 0);
  expect(lane.isIdle(1000)).toBe(false);
  expect(lane.isIdle(3_600_001)).toBe(true);
});

test('more is fetched before the last one has gone', () => {
  lane.hasMore = true;
  fill(8);
  expect(lane.wantsMore).toBe(false);
  begin();
  expect(lane.wantsMore).toBe(true);
});

/** The room of a lane whose receiver answers in this time, after eight successes. */
function roomAfter(durationMs: number): number {
  fill(8);
  begin();
  for (let i = 0; i < 8; i++) lane.ended({ hasSucceeded: true, durationMs }, 0);
  return lane.room;
}

test.each([
  [5, 2048],
  [100, 800],
  [10_000, 256],
])('of a receiver that answers in %i ms as much waits in memory as it takes in five seconds: %i', (ms, room) => {
  expect(lane.room).toBe(2048);
  expect(roomAfter(ms)).toBe(room);
});

test('large bodies leave room for what can begin at once alone, until they are gone', () => {
  const large = consignment('dlv_large');
  lane.add({ ...large, message: { ...large.message, body: 'x'.repeat(64 * 1024 * 1024) } }, 0);
  const other = new Lane(KEY, meter);
  expect(other.room).toBe(8);
  expect(lane.clear()).toHaveLength(1);
  expect([other.room, meter.length]).toEqual([2048, 0]);
  fill(10);
  begin();
  expect(meter.length).toBe(4);
});
