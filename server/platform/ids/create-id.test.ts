import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createId, firstIdAt, isId, timeOfId } from './create-id.ts';

/** Until the year 10889: what ten characters hold. */
const moments = fc.integer({ min: 0, max: 2 ** 48 - 1 });

test('an id is one of its prefix alone, and tells when it was made', () => {
  fc.assert(
    fc.property(moments, (ms) => {
      const id = createId('tool', ms);
      expect([isId('tool', id), isId('key', id), isId('tool', `${id}x`), timeOfId(id)]).toEqual([
        true,
        false,
        false,
        ms,
      ]);
    }),
  );
});

test('ids sort by the moment they were made', () => {
  fc.assert(
    fc.property(moments, moments, (one, other) => {
      const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
      expect(createId('evt', later) >= firstIdAt('evt', later)).toBe(true);
      expect(createId('evt', earlier) < firstIdAt('evt', later)).toBe(earlier < later);
    }),
  );
});

test('no two are the same, and every character of them is used', () => {
  const ids = Array.from({ length: 5000 }, () => createId('run', 0));
  expect(new Set(ids).size).toBe(ids.length);
  for (let place = 14; place < 30; place++) expect(new Set(ids.map((id) => id[place])).size).toBe(32);
});
