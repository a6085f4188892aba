import { expect, test } from 'vitest';
import { BodyRoom } from './body-room.ts';

const refusal = expect.objectContaining({ code: 'UNAVAILABLE', retryAfterSeconds: 5 });

test('large bodies share a room, of which one owner has a part; small ones need none', () => {
  const room = new BodyRoom({ most: 100, mostOfOwner: 60, small: 5 });
  const first = room.enter('a');
  first.reserve(50);
  expect(() => room.enter('a').reserve(11)).toThrow(refusal);
  room.enter('a').reserve(5);
  room.enter('b').reserve(50);
  expect(() => room.enter('c').reserve(6)).toThrow(refusal);
  first.leave();
  room.enter('c').reserve(50);
});

test('a body that grows is counted as a whole once it is large, and no more once it has left', () => {
  const room = new BodyRoom({ most: 100, mostOfOwner: 100, small: 5 });
  const growing = room.enter('a');
  growing.reserve(4);
  growing.reserve(90);
  expect(() => growing.reserve(7)).toThrow(refusal);
  expect(() => room.enter('b').reserve(7)).toThrow(refusal);
  room.enter('b').reserve(6);
  growing.leave();
  growing.leave();
  room.enter('c').reserve(94);
  expect(() => room.enter('c').reserve(6)).toThrow(refusal);
});
