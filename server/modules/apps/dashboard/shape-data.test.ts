import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shapeChart, shapeStat, UnusableResult } from './shape-data.ts';

describe('a stat', () => {
  test.each([
    [12, { value: 12 }],
    ['up', { value: 'up' }],
    [[1, 2, 3], { value: 3 }],
    [
      { value: '7', unit: 'EUR', change: -0.5 },
      { value: '7', unit: 'EUR', change: -0.5 },
    ],
    [{ name: 'x', orders: 4 }, { value: 4 }],
    [{ data: { total: 9 } }, { value: 9 }],
  ])('of %j', (result, data) => {
    expect(shapeStat(result)).toEqual(data);
  });

  test.each([[null], [{}], [{ name: {} }], ['']])('of %j there is none', (result) => {
    expect(() => shapeStat(result)).toThrow(UnusableResult);
  });
});

function one(values: (number | null)[], labels = values.map((_, index) => String(index + 1))) {
  return { labels, series: [{ name: 'value', values }] };
}

describe('a chart', () => {
  test.each([
    [[1, '2', 3], one([1, 2, 3])],
    [
      [
        ['a', 1],
        ['b', 2],
      ],
      one([1, 2], ['a', 'b']),
    ],
    [{ a: 1, b: 2 }, one([1, 2], ['a', 'b'])],
    [{ labels: ['a', 'b'], values: [1] }, one([1, null], ['a', 'b'])],
    [
      { labels: ['a'], series: [{ name: 's', data: [1] }] },
      { labels: ['a'], series: [{ name: 's', values: [1] }] },
    ],
    [{ items: [{ city: 'A', n: 1 }] }, { labels: ['A'], series: [{ name: 'n', values: [1] }] }],
    [{ data: { rows: [{ x: 5, y: 1 }] } }, { labels: ['5'], series: [{ name: 'y', values: [1] }] }],
    [
      [
        { day: 'Mo', n: null },
        { day: 'Tu', n: 2 },
      ],
      { labels: ['Mo', 'Tu'], series: [{ name: 'n', values: [null, 2] }] },
    ],
    [[], { labels: [], series: [] }],
  ])('of %j', (result, data) => {
    expect(shapeChart(result, 'line')).toEqual(data);
  });

  test('a pie has one series', () => {
    expect(shapeChart([{ name: 'a', n: 1, m: 2 }], 'pie').series).toEqual([{ name: 'n', values: [1] }]);
  });

  test.each([[7], [null], ['x'], [['a', 'b']], [[{ a: 'b' }]]])('of %j there is none', (result) => {
    expect(() => shapeChart(result, 'bar')).toThrow(UnusableResult);
  });
});

/** What a shape makes of a result; undefined where it refuses. */
function attempt<T>(shape: () => T): T | undefined {
  try {
    return shape();
  } catch (error) {
    if (error instanceof UnusableResult) return undefined;
    throw error;
  }
}

test('whatever a source gives is shown or refused, and every series is as long as the labels', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (result) => {
      attempt(() => shapeStat(result));
      const chart = attempt(() => shapeChart(result, 'line'));
      const lengths = chart?.series.map(({ values }) => values.length) ?? [];
      expect(lengths.filter((length) => length !== chart?.labels.length)).toEqual([]);
    }),
  );
});
