import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FewAtOnce } from './few-at-once.ts';

test('two of a key at once, in order, also after one that failed; other keys do not wait', async () => {
  const jobs = new FewAtOnce(2);
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const start = (name: string): Promise<void> => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    return jobs.run(name.charAt(0), () => {
      begun.push(name);
      return end.promise;
    });
  };
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map(start);
  await nextTurn();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  ends.get('a2')?.reject(new Error('failed'));
  await expect(all[1]).rejects.toThrow('failed');
  await nextTurn();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  for (const end of ends.values()) end.resolve();
  await Promise.all([all[0], all[2], all[3], all[4]]);
  expect(begun.at(-1)).toBe('a4');
  void start('a5');
  expect(begun.at(-1)).toBe('a5');
});
