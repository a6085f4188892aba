import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dataSections, type Data } from './data-sections.ts';
import { fitSections } from './fit-sections.ts';

function fit(data: Data, maxBytes: number) {
  return fitSections(dataSections(data), maxBytes).map(({ text, omission }) => ({ text, omission }));
}

test('what fits is whole', () => {
  expect(fit([{ a: 1 }, { a: '二' }], 1000)).toEqual([{ text: '{"a":1}\n{"a":"二"}', omission: undefined }]);
  expect(fit('plain text', 1000)).toEqual([{ text: 'plain text', omission: undefined }]);
  expect(fit({}, 1000)).toEqual([{ text: '', omission: undefined }]);
});

test('tables are cut between rows, and what was left out is said', () => {
  const rows = Array.from({ length: 1000 }, (_, n) => ({ n }));
  const [cut] = fit(rows, 100);
  expect(cut?.text.split('\n').map((line): unknown => JSON.parse(line))).toEqual(rows.slice(0, 12));
  expect(cut?.omission).toBe('the first 12 of 1000 rows are shown; the rest was left out because it is too large');
});

test('a CSV record with a line break is not cut in two', () => {
  const csv = `a,b\n${'"x\ny",1\n'.repeat(100)}`;
  const [cut] = fit(csv, 50);
  expect(cut?.text).toBe(Array(6).fill('"x\ny",1').join('\n'));
  expect(cut?.omission).toContain('the first 6 of 100 rows');
});

test('text is cut at a character, never inside one', () => {
  const [cut] = fit('中文😀'.repeat(100), 13);
  expect(cut).toEqual({
    text: '中文😀中',
    omission: 'the first 5 of 400 characters are shown; the rest was left out because it is too large',
  });
});

test('a single row that is too large shows how it begins', () => {
  const [cut] = fit([{ a: 'x'.repeat(500) }, { a: 1 }], 50);
  expect(cut?.text).toBe(`{"a":"${'x'.repeat(44)}`);
  expect(cut?.omission).toContain('the first 50 of 508 characters of the first of 2 rows');
});

test('small parts of an object stay whole beside large ones', () => {
  const rows = Array.from({ length: 1000 }, (_, n) => ({ n }));
  const cut = fit({ title: 'May', rows, notes: ['a', 'b'] }, 500);
  expect(cut.map(({ omission }) => omission !== undefined)).toEqual([false, true, false]);
  expect(cut[0]?.text).toBe('"title": "May"');
});

test('all parts together never exceed the limit', () => {
  const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.array(fc.jsonValue()), fc.jsonValue());
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), fc.integer({ min: 0, max: 500 }), (data, maxBytes) => {
      const bytes = fit(data, maxBytes).map(({ text }) => Buffer.byteLength(text));
      expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(maxBytes);
    }),
  );
});
