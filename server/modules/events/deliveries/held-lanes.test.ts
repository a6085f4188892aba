import { expect, test } from 'vitest';
import { HeldLanes } from './held-lanes.ts';
import { Lane } from './lane.ts';

function laneOf(name: string): Lane {
  const [developerId = '', subscriptionId = ''] = name.split('/');
  return new Lane({ developerId, subscriptionId }, { length: 0 });
}

function heldOf(names: readonly string[]): HeldLanes {
  const held = new HeldLanes();
  for (const name of names) held.add(laneOf(name));
  return held;
}

function takeAll(held: HeldLanes, hasRoom: (developerId: string) => boolean): string[] {
  const taken: string[] = [];
  for (let lane = held.take(hasRoom); lane; lane = held.take(hasRoom)) {
    taken.push(`${lane.key.developerId}/${lane.key.subscriptionId}`);
  }
  return taken;
}

test('developers take turns, and the lanes of each do', () => {
  const held = heldOf(['a/1', 'a/2', 'a/3', 'b/1', 'c/1', 'c/2']);
  expect(takeAll(held, () => true)).toEqual(['a/1', 'b/1', 'c/1', 'a/2', 'c/2', 'a/3']);
});

test('a developer without room is passed over, and stays', () => {
  const held = heldOf(['a/1', 'b/1', 'a/2']);
  expect(takeAll(held, (developerId) => developerId !== 'a')).toEqual(['b/1']);
  expect(takeAll(held, () => true)).toEqual(['a/1', 'a/2']);
});

test('a lane is held once', () => {
  const held = new HeldLanes();
  const lane = laneOf('a/1');
  held.add(lane);
  held.add(lane);
  expect(takeAll(held, () => true)).toEqual(['a/1']);
});
