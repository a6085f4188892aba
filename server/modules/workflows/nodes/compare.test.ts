import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compare } from './compare.ts';
import { containsText } from './contains-text.ts';
import { StepError } from './node-type.ts';

test.each([
  [1, '==', 1, true],
  [1, '==', '1', true],
  ['1.0', '==', 1, true],
  ['1.0', '==', '1', false],
  [1, '==', 'one', false],
  [0, '==', '', false],
  [0, '==', null, false],
  [0, '==', false, false],
  [-0, '==', 0, true],
  [null, '==', undefined, true],
  [{ a: [1, { b: 2 }] }, 'eq', { a: [1, { b: 2 }] }, true],
  [{ a: 1, b: 2 }, '==', { b: 2, a: 1 }, true],
  [{ a: 1 }, '==', { a: 1, b: undefined }, false],
  [[], '==', {}, false],
  ['a', '!=', 'b', true],
  [2, 'ne', '2', false],
  [10, '>', '9', true],
  ['10', '>', '9', false],
  ['b', 'gt', 'a', true],
  ['Z', '<', 'a', true],
  [1, 'lt', 2, true],
  [2, '>=', 2, true],
  ['a', 'gte', 'a', true],
  [2, '<=', '1e1', true],
  [3, 'lte', 2, false],
  ['an answer', 'contains', 'answer', true],
  ['room 101', 'contains', 101, true],
  [[1, '2', { a: 1 }], 'contains', 2, true],
  [[{ a: 1 }], 'contains', { a: 1 }, true],
  [{ key: 1 }, 'contains', 'key', true],
  [{}, 'contains', 'constructor', false],
  ['answer', 'startsWith', 'ans', true],
  [404, 'startsWith', 4, true],
  ['answer', 'endsWith', 'wer', true],
  ['b', 'in', ['a', 'b'], true],
  ['ell', 'in', 'hello', true],
  ['toString', 'in', {}, false],
  [null, 'exists', null, false],
  [false, 'exists', undefined, true],
  ['', 'empty', undefined, true],
  [null, 'empty', undefined, true],
  [[], 'empty', undefined, true],
  [{}, 'empty', undefined, true],
  [0, 'empty', undefined, false],
  [' ', 'empty', undefined, false],
] as const)('%j %s %j is %s', (left, operator, right, outcome) => {
  expect(compare(left, operator, right)).toBe(outcome);
});

test.each([
  [null, '>', 1, 'There is no order between nothing (null) and a number'],
  ['a', '<', 1, 'There is no order between a text and a number'],
  [{}, '>=', [], 'There is no order between an object and a list'],
  [true, '<=', 1, 'There is no order between a boolean and a number'],
  [null, 'contains', 'a', 'The operator contains is not for nothing (null) on the left'],
  ['a', 'in', 5, 'The operator in is not for a text on the left, a number on the right'],
  [[], 'startsWith', 'a', 'The operator startsWith is not for'],
  [1, 'constructor', 1, 'config.operator must be one of =='],
  [1, '__proto__', 1, 'config.operator must be one of =='],
])('%j %s %j fails', (left, operator, right, message) => {
  const failing = (): boolean => compare(left, operator, right);
  expect(failing).toThrow(StepError);
  expect(failing).toThrow(message);
});

describe('for all values', () => {
  test('a value equals itself, and what is equal is not different', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        expect(compare(left, '==', structuredClone(left))).toBe(true);
        expect(compare(left, '==', right)).toBe(compare(right, '==', left));
        expect(compare(left, '!=', right)).toBe(!compare(left, '==', right));
      }),
    );
  });

  test('of two texts or two numbers exactly one of <, == and > holds', () => {
    const pair = fc.oneof(fc.tuple(fc.string(), fc.string()), fc.tuple(fc.integer(), fc.integer()));
    fc.assert(
      fc.property(pair, ([left, right]) => {
        const holding = ['<', '==', '>'].filter((operator) => compare(left, operator, right));
        expect(holding).toHaveLength(1);
      }),
    );
  });
});

describe('a text in a text', () => {
  test('is found as String.includes finds it, also where the other way of search begins', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
    fc.assert(
      fc.property(letters, letters, fc.boolean(), (text, part, isLong) => {
        const times = isLong ? 4000 : 1;
        const [whole, piece] = [text.repeat(times), part.repeat(times)];
        expect(containsText(whole, piece)).toBe(whole.includes(piece));
      }),
      { numRuns: 300 },
    );
  });

  test('takes no minutes when both repeat themselves', () => {
    // String.includes takes 40 s for these.
    const part = `${'ab'.repeat(50_000)}aab${'ab'.repeat(50_000)}`;
    expect(containsText('ab'.repeat(1_000_000), part)).toBe(false);
    expect(containsText(`${'ab'.repeat(1_000_000)}${part}`, part)).toBe(true);
  });
});
