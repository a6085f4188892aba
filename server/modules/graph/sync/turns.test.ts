import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

test('as many as may run at once, of each owner one, and owners take turns', async () => {
  const turns = new Turns(2);
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = async (name: string): Promise<void> => {
    ends.set(name, await turns.take(name.charAt(0)));
    order.push(name);
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    // Whoever comes next has begun when all promises have settled.
    await new Promise(setImmediate);
  };
  const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map(begin);
  await end('');
  expect(order).toEqual(['a1', 'b1']);
  await end('a1');
  expect(order).toEqual(['a1', 'b1', 'c1']);
  await end('b1');
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2']);
  await end('c1');
  expect(order).toHaveLength(4);
  await end('a2');
  await Promise.all(all);
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
});
