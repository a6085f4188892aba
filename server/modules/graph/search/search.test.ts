import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestFirst, matchName, matchShare, matchSimilar, nodeOf, similarText } from './match.ts';
import { NamePairs } from './name-pairs.ts';
import { NameText } from './name-text.ts';
import { holdsLine, PostingsBuilder } from './postings.ts';
import { foldText, innerPairsOf, pairsOf, similarity, termsOfProperties } from './terms.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '-', '京', 'é'), maxLength: 8 });
const named = fc.array(letters.map(foldText), { maxLength: 40 });
const wantedText = fc.string({ unit: fc.constantFrom('a', 'b', '-', '京', 'é'), minLength: 1, maxLength: 3 });
const wantedPair = fc.string({ unit: fc.constantFrom('a', 'b', '-', '京', 'é'), minLength: 2, maxLength: 4 });
const all = (): boolean => true;
const isEvenLine = (no: number): boolean => no % 4 === 0;

/** Names as one text; the number of a node is twice its line. */
function textOf(names: readonly string[]): NameText {
  return new NameText(
    names,
    Int32Array.from(names, (_, line) => 2 * line),
  );
}

describe('folding', () => {
  test.each([
    ['  Ada\n\tLovelace ', 'ada lovelace'],
    ['ＡＢＣ ﬁ', 'abc fi'],
    ['ÄRZTE', 'ärzte'],
    ['北京 市', '北京 市'],
    [' \u3000 ', ''],
  ])('%j is %j', (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });

  test('twice is the same as once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(foldText(foldText(text))).toBe(foldText(text));
      }),
    );
  });
});

describe('names', () => {
  test('are found and ranked as by looking at each', () => {
    fc.assert(
      fc.property(named, wantedText, (names, wanted) => {
        const each = names.flatMap((name, line) => matchName(2 * line, name, wanted) ?? []);
        const found = textOf(names).find(wanted, { most: Infinity, accepts: all });
        expect(bestFirst(found)).toEqual(bestFirst(each));
        expect(found.map(nodeOf).every((no) => names[no / 2]?.includes(wanted))).toBe(true);
      }),
    );
  });

  test('that are not wanted take no place of those that are', () => {
    fc.assert(
      fc.property(named, wantedText, fc.integer({ min: 1, max: 5 }), (names, wanted, most) => {
        const each = names.filter((name, line) => line % 2 === 0 && name.includes(wanted)).length;
        const found = textOf(names).find(wanted, { most, accepts: isEvenLine });
        expect(found.length).toBeGreaterThanOrEqual(Math.min(most, each));
        expect(found.every((match) => isEvenLine(nodeOf(match)))).toBe(true);
      }),
    );
  });

  test('that are the very text are found behind any number of others', () => {
    fc.assert(
      fc.property(named, wantedText, (names, wanted) => {
        const [first] = bestFirst(textOf([...names, wanted]).find(wanted, { most: 1, accepts: all }));
        expect([...names, wanted][(first ?? 0) / 2]).toBe(wanted);
      }),
    );
  });

  test('rank: the same, a beginning, a word, a part; the shorter first; then a similar one', () => {
    const names = ['unlondoned', 'londno', 'new-london', 'london bridge', 'london', 'londoner', 'a london'];
    const direct = names.flatMap((name, no) => matchName(no, name, 'london') ?? []);
    const similar = names.flatMap((name, no) =>
      name === 'londno' ? (matchSimilar(no, name, similarText('london')) ?? []) : [],
    );
    expect(bestFirst([...similar, ...direct]).map((no) => names[no])).toEqual([
      'london',
      'londoner',
      'london bridge',
      'a london',
      'new-london',
      'unlondoned',
      'londno',
    ]);
  });
});

test.each([
  ['lovelase', 'ada lovelace'],
  ['lvoelace', 'ada king, countess of lovelace'],
  ['king contess', 'ada king, countess of lovelace'],
  ['上海浦东机场', '上海浦东国际机场'],
])('%j is similar to %j or to some of its words', (wanted, name) => {
  expect(matchSimilar(0, name, similarText(wanted))).toBeDefined();
  expect(matchSimilar(0, 'something else', similarText(wanted))).toBeUndefined();
});

/** Pairs of names, by their place in the list. */
async function pairsOfAll(names: readonly string[]): Promise<NamePairs> {
  const builder = new PostingsBuilder();
  for (const [line, name] of names.entries()) for (const pair of pairsOf(name)) builder.add(pair, line);
  const sizes = Uint16Array.from(names, (name) => pairsOf(name).size);
  return new NamePairs(await builder.build(), sizes);
}

describe('pairs of names', () => {
  test('give every name that holds a text, and the same again', async () => {
    await fc.assert(
      fc.asyncProperty(named, wantedPair, fc.constantFrom(1, 150), async (some, wanted, times) => {
        const names = Array.from({ length: times }, () => some).flat();
        const pairs = await pairsOfAll(names);
        const lines = new Set(pairs.mayHold(innerPairsOf(wanted)));
        expect(new Set(pairs.mayHold(innerPairsOf(wanted)))).toEqual(lines);
        const found = textOf(names).findAmong(lines, wanted, all);
        const holding = names.flatMap((name, line) => (name.includes(wanted) ? [2 * line] : []));
        expect(found.map(nodeOf)).toEqual(holding);
      }),
    );
  });

  test('give the similar names, as by looking at each', async () => {
    await fc.assert(
      fc.asyncProperty(named, letters.map(foldText), async (names, wanted) => {
        const found: number[] = [];
        const pairs = await pairsOfAll(names);
        const add = (match: number | undefined) => match !== undefined && found.push(match);
        pairs.eachSimilar(pairsOf(wanted), (line, share) =>
          add(
            share === undefined ? matchSimilar(line, names[line] ?? '', similarText(wanted)) : matchShare(line, share),
          ),
        );
        const each = names.flatMap((name, line) => matchSimilar(line, name, similarText(wanted)) ?? []);
        expect(new Set(found)).toEqual(new Set(each));
      }),
      // As similar as it has to be, to the last digit.
      { examples: [[['aa'], foldText('éaa ab')]] },
    );
  });
});

test('the best of many are those that come first of all', () => {
  fc.assert(
    fc.property(named, wantedText, fc.integer({ min: 1, max: 10 }), (names, wanted, most) => {
      const found = names.flatMap((name, no) => matchName(no, name, wanted) ?? []);
      expect(bestFirst(found, most)).toEqual(bestFirst(found).slice(0, most));
    }),
  );
});

test('similarity is symmetric, 1 of the same and 0 of nothing in common', () => {
  fc.assert(
    fc.property(letters, letters, (a, b) => {
      const [left, right] = [pairsOf(foldText(a)), pairsOf(foldText(b))];
      expect(similarity(left, right)).toBe(similarity(right, left));
      expect(similarity(left, left)).toBe(1);
    }),
  );
  expect(similarity(pairsOf('ab'), pairsOf('京'))).toBe(0);
});

test('postings give the lines of each term, as a map does', async () => {
  const entries = fc.array(fc.tuple(fc.string({ maxLength: 4 }), fc.nat(1000)), { maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(entries, fc.string({ maxLength: 4 }), async (added, other) => {
      const map = new Map<string, number[]>([[other, []]]);
      const builder = new PostingsBuilder();
      for (const [term, line] of added) {
        builder.add(term, line);
        map.set(term, [...(map.get(term) ?? []), line]);
      }
      const postings = await builder.build();
      for (const [term, lines] of map) expect([...postings.of(term)]).toEqual(lines);
    }),
  );
});

test('a list holds its numbers and no others', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(60)), fc.nat(60), (numbers, wanted) => {
      const list = Int32Array.from(numbers).toSorted();
      expect(holdsLine(list, wanted)).toBe(numbers.includes(wanted));
    }),
  );
});

test('terms of properties are those of their values, at any depth, not of their keys', () => {
  const json = JSON.stringify({ key: ['Connected', { deep: { x: '研究中心', n: 42, yes: true, none: null } }] });
  expect([...termsOfProperties(json)].toSorted()).toEqual(['42', 'connect', '中心', '研究', '究中']);
  expect([...termsOfProperties('"a text that was cut"')]).toContain('text');
});
