import { describe, expect, test } from 'vitest';
import { dataSections, type Data } from './data-sections.ts';
import { profileTable } from './profile-table.ts';

/** The lines of the profile of the only table in the data. */
async function profileOf(data: Data): Promise<string[]> {
  const [section] = dataSections(data);
  if (!section?.rows) throw new Error('the data is no table');
  return (await profileTable(section.rows(), new AbortController().signal)).split('\n');
}

describe('the profile of a table', () => {
  test('tells type, counts and range of every column, with names in any script', async () => {
    const rows = [
      { 地区: '华东', 销售额: 10.5, 数量: 3, 日期: '2026-01-05', 有效: true },
      { 地区: '华北', 销售额: 20, 数量: 1, 日期: '2026-01-04', 有效: false },
      { 地区: '华东', 销售额: null, 日期: '2026-02-01T08:00:00Z', 有效: true, 备注: '' },
    ];
    expect(await profileOf(rows)).toEqual([
      '3 rows, 6 columns',
      '"地区": text; 3 present; 0 missing; 2 distinct; most common "华东" 2, "华北" 1',
      '"销售额": number; 2 present; 1 missing; 2 distinct; min 10.5; max 20; mean 15.25',
      '"数量": integer; 2 present; 1 missing; 2 distinct; min 1; max 3; mean 2',
      '"日期": date; 3 present; 0 missing; 3 distinct; from 2026-01-04; to 2026-02-01T08:00:00Z',
      '"有效": boolean; 3 present; 0 missing; 2 distinct; most common "true" 2, "false" 1',
      '"备注": empty; 0 present; 3 missing',
    ]);
  });

  test('reads CSV with quotes, line breaks inside them, a byte order mark and CRLF', async () => {
    const csv = '\uFEFF名称,"单价, 元",备注\r\n"螺丝 ""M4""",0.5,"第一行\n第二行, 完"\r\n\r\n螺母,1.5,\r\n';
    expect(await profileOf(csv)).toEqual([
      '2 rows, 3 columns',
      '"名称": text; 2 present; 0 missing; 2 distinct; most common "螺丝 \\"M4\\"" 1, "螺母" 1',
      '"单价, 元": number; 2 present; 0 missing; 2 distinct; min 0.5; max 1.5; mean 1',
      '"备注": text; 1 present; 1 missing; 1 distinct; most common "第一行\\n第二行, 完" 1',
    ]);
  });

  test.each([';', '\t', '|'])('reads text separated by %j', async (delimiter) => {
    const csv = ['a', 'b'].join(delimiter) + '\n' + ['1,5', '2'].join(delimiter);
    expect((await profileOf(csv))[0]).toBe('1 rows, 2 columns');
  });

  test('keeps long integers exact and identifiers apart from numbers', async () => {
    const csv = 'id,code,n\n9007199254740993,007,1e3\n12345678901234567890,012,-.5\n9007199254740992,007,+2\n';
    expect(await profileOf(csv)).toEqual([
      '3 rows, 3 columns',
      expect.stringMatching(
        /^"id": big integer; 3 present; 0 missing; 3 distinct; min 9007199254740992; max 12345678901234567890; /,
      ),
      '"code": text; 3 present; 0 missing; 2 distinct; most common "007" 2, "012" 1',
      '"n": number; 3 present; 0 missing; 3 distinct; min -0.5; max 1000; mean 333.833333333',
    ]);
  });

  test('says what is mixed in a column', async () => {
    const [, line] = await profileOf([{ v: 1 }, { v: 'n/a' }, { v: [1] }, { v: 2.5 }, { v: '1' }]);
    expect(line).toBe(
      '"v": mixed (1 integer, 2 text, 1 nested, 1 number); 5 present; 0 missing; 4 distinct; min 1; max 2.5; mean 1.75; most common "1" 1, "n/a" 1, "2.5" 1, "1" 1',
    );
  });

  test('takes columns that are named like parts of every object for what they are', async () => {
    const rows = JSON.parse('[{"constructor": 1, "toString": "x"}, {"__proto__": 5, "hasOwnProperty": 2}]');
    expect(await profileOf(rows)).toEqual([
      '2 rows, 4 columns',
      '"constructor": integer; 1 present; 1 missing; 1 distinct; min 1; max 1; mean 1',
      '"toString": text; 1 present; 1 missing; 1 distinct; most common "x" 1',
      '"__proto__": integer; 1 present; 1 missing; 1 distinct; min 5; max 5; mean 5',
      '"hasOwnProperty": integer; 1 present; 1 missing; 1 distinct; min 2; max 2; mean 2',
    ]);
    expect(await profileOf('__proto__,constructor\n1,2')).toEqual([
      '1 rows, 2 columns',
      expect.stringContaining('"__proto__": integer'),
      expect.stringContaining('"constructor": integer'),
    ]);
  });

  test('gives columns without a name, or with one that is taken, a name of their own', async () => {
    const names = (await profileOf('a,,a\n1,2,3')).slice(1).map((line) => line.split(':')[0]);
    expect(names).toEqual(['"a"', '"column 2"', '"a (2)"']);
  });

  test('does not overflow, and counts only so many distinct values and columns', async () => {
    const large = Array.from({ length: 12_000 }, (_, n) => ({ big: 1.5e308, n }));
    const [, big, n] = await profileOf(large);
    expect(big).toContain('mean 1.5e+308');
    expect(n).toContain('over 10000 distinct; min 0; max 11999; mean 5999.5');
    const wide = await profileOf(Array.from({ length: 1500 }, (_, at) => ({ [`c${at}`]: 1 })));
    expect(wide[0]).toBe('1500 rows, over 1000 columns');
    expect(wide.at(-1)).toBe('(only the first 200 columns are described)');
  });

  test('stops when its caller has left', async () => {
    const rows = dataSections(Array.from({ length: 5000 }, (_, n) => ({ n })))[0]?.rows;
    await expect(profileTable(rows?.() ?? [], AbortSignal.abort())).rejects.toThrow('aborted');
  });
});

describe('what is no table', () => {
  test.each([
    ['prose', 'Sales rose in May, June and July.\nThen, they fell.\nNobody knows why, or how, or when.'],
    ['figures without names', '1,2,3\n4,5,6'],
    ['one line', 'a,b,c'],
    ['one column', 'name\nAda\nBob'],
  ])('%s stays text', (_name, text) => {
    expect(dataSections(text)).toMatchObject([{ unit: 'characters' }]);
  });

  test.each([[[1, 2]], [[{ a: 1 }, 2]], [[]], [[null, { a: 1 }]]])('the list %j is a list of items', (list) => {
    expect(dataSections(list)).toMatchObject([{ unit: 'items' }]);
  });
});

test('text that is JSON, and lists inside an object, are found', () => {
  expect(dataSections(' [{"a":1}]')).toMatchObject([{ unit: 'rows' }]);
  expect(dataSections('[not json')).toMatchObject([{ unit: 'characters' }]);
  const sections = dataSections({ title: 'May', sales: [{ a: 1 }], tags: ['x'], log: 'x'.repeat(3000) });
  expect(sections.map(({ name, unit }) => [name, unit])).toEqual([
    [undefined, 'members'],
    ['sales', 'rows'],
    ['tags', 'items'],
    ['log', 'characters'],
  ]);
});
