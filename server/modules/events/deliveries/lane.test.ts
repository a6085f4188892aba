import { beforeEach, expect, test } from 'vitest';
import type { Consignment } from './delivery.ts';
import { Lane } from './lane.ts';

const KEY = { developerId: 'dev_1', subscriptionId: 'hook_1' };
let lane: Lane;

beforeEach(() => {
  lane = new Lane(KEY);
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
  lane.ended(true, 0);
  expect(begin()).toEqual(['dlv_8', 'dlv_9']);
});

test('a receiver that hangs ends with one attempt at a time', () => {
  fill(200);
  let underWay = begin().length;
  while (underWay > 1) {
    lane.ended(false, 0);
    underWay += begin().length - 1;
  }
  lane.ended(false, 0);
  expect(begin()).toHaveLength(1);
  expect(lane.room).toBe(0);
});

test('success widens the window to 64 and no further', () => {
  fill(300);
  let underWay = begin().length;
  for (let i = 0; i < 100; i++) {
    lane.ended(true, 0);
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
  lane.ended(false, 0);
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
