import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesFilter } from './matches-filter.ts';

const DATA = {
  toolName: 'get_order',
  elapsed_ms: 12,
  input: { orderId: '4711', lines: [{ sku: 'a' }, { sku: 'b' }], note: null },
  'a.b': 1,
};

test.each([
  ['no filter', null, true],
  ['an empty filter', {}, true],
  ['an equal value', { toolName: 'get_order' }, true],
  ['another value', { toolName: 'get_orders' }, false],
  ['a number that is not a text', { elapsed_ms: '12' }, false],
  ['a path', { 'input.orderId': '4711' }, true],
  ['a position', { 'input.lines.1.sku': 'b' }, true],
  ['any of several', { toolName: ['a', 'get_order'] }, true],
  ['none of several', { toolName: ['a', 'b'] }, false],
  ['none of none', { toolName: [] }, false],
  ['an array as it is', { 'input.lines': [{ sku: 'a' }, { sku: 'b' }] }, true],
  ['an object in any order of keys', { 'input.lines.0': { sku: 'a' } }, true],
  ['null', { 'input.note': null }, true],
  ['null where there is nothing', { 'input.nothing': null }, false],
  ['a key that holds dots', { 'a.b': 1 }, true],
  ['one of two keys', { toolName: 'get_order', elapsed_ms: 13 }, false],
  ['what every object inherits', { 'input.constructor.name': 'Object' }, false],
  ['the length of an array', { 'input.lines.length': 2 }, true],
])('a filter with %s', (_name, filter, expected) => {
  expect(matchesFilter(filter, DATA)).toBe(expected);
});

test('data matches a filter made of any of its own values', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (data) => {
      expect(matchesFilter(data, data)).toBe(true);
    }),
  );
});
