import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BASE_TYPES, type BaseType } from '../../../../contract/routes/knowledge.ts';
import { chunkInSlices } from './chunk-in-slices.ts';
import { chunksOf } from './chunk-document.ts';
import { costOf, MOST_COST } from './cost.ts';

function textsOf(content: string, type: BaseType = 'general'): [heading: string, text: string][] {
  return [...chunksOf(content, type)].flatMap((chunk) =>
    chunk ? [[chunk.heading, content.slice(chunk.start, chunk.end)] as [string, string]] : [],
  );
}

test('headings are matched, not repeated', () => {
  const content = '# Returns\n\nWithin 30 days.\n\n## Shipping ##\nBy mail.\n\nPrices\n======\n\nLow.\n';
  expect(textsOf(content)).toEqual([
    ['Returns', 'Within 30 days.'],
    ['Returns\nShipping', 'By mail.'],
    ['Prices', 'Low.'],
  ]);
});

test('headings with nothing below are text', () => {
  expect(textsOf('# A\n## B\n## C\n## D\nd\n# E')).toEqual([
    ['A', '## B\n## C'],
    ['A\nD', 'd'],
    ['', '# E'],
  ]);
});

test('code keeps its signs', () => {
  const content = 'Run:\n\n```sh\n# not a heading\n\nls | wc\n```\n\nDone.';
  expect(textsOf(content)).toEqual([['', content]]);
});

const LONG = 'The goods are sent back by mail at the cost of the customer. '.repeat(18).trim();
const ITEM = 'Fill in the form that came with the parcel and put it on top of the goods before you close it.';

test('a block that fits is rather not torn', () => {
  expect(textsOf(`${LONG}\n\n${LONG}`).map(([, text]) => text.startsWith('The goods'))).toEqual([true, true]);
  const list = Array.from({ length: 8 }, () => `- ${ITEM}`).join('\n');
  const [first, second] = textsOf(`${LONG}\n\n${list}`);
  expect(first?.[1]).toBe(LONG);
  expect(second?.[1].endsWith(list)).toBe(true);
});

test('tables are cut between rows, lists between items', () => {
  const row = '| one cell of a table | and another one |';
  for (const [, text] of textsOf(Array.from({ length: 200 }, () => row).join('\n'))) {
    expect(text.split('\n').every((line) => line === row)).toBe(true);
  }
  const item = `1. ${ITEM}\n   Then close it.`;
  for (const [, text] of textsOf(Array.from({ length: 50 }, () => item).join('\n'))) {
    expect(text.replaceAll(item, '').trim()).toBe('');
  }
});

test('rows of a table are matched with its head', () => {
  const rows = Array.from({ length: 100 }, (_, i) => `| product ${i} | ${i} EUR | on the shelf |`).join('\n');
  const head = '| Name | Price | Where |';
  const texts = textsOf(`# Prices\n\n${head}\n| :-- | --: | --- |\n${rows}\n\n${LONG}`);
  expect(texts.length).toBeGreaterThan(3);
  expect(texts.map(([heading]) => heading)).toEqual([
    'Prices',
    ...texts.slice(2).map(() => `Prices\n${head}`),
    'Prices',
  ]);
  expect(texts.slice(0, 1).map(([, text]) => text.startsWith(head))).toEqual([true]);
  expect(textsOf(rows).map(([heading]) => heading)).toEqual(textsOf(rows).map(() => ''));
});

test('chapters of Chinese texts are headings', () => {
  const content =
    '第一编 总则\n第一章　适用范围\n本规定适用于员工。\n第二节：考勤\n第三章讲的是假期。\n第二章\n工作时间。';
  expect(textsOf(content)).toEqual([
    ['第一编 总则\n第一章　适用范围', '本规定适用于员工。'],
    ['第一编 总则\n第一章　适用范围\n第二节：考勤', '第三章讲的是假期。'],
    ['第一编 总则\n第二章', '工作时间。'],
  ]);
});

test('text in Chinese is cut at the ends of sentences', () => {
  const texts = textsOf('顾客可以在三十天内退货。商品必须完好无损，并附上收据！'.repeat(60));
  expect(texts.length).toBeGreaterThan(3);
  for (const [, text] of texts) expect(text).toMatch(/^[顾商].*[。！]$/u);
});

test('passages overlap where a section goes on', () => {
  const sentences = Array.from({ length: 100 }, (_, i) => `This is the sentence of number ${i} in the text.`);
  const texts = textsOf(sentences.join(' ')).map(([, text]) => text);
  for (const [i, text] of texts.slice(1).entries()) {
    expect(texts[i]?.endsWith(text.slice(0, text.indexOf('.') + 1)) ?? false).toBe(false);
    expect(texts[i]).toContain(text.slice(0, text.indexOf('.') + 1));
  }
});

test.each([
  [
    'Q: How long?\nA: 30 days.\n\nQ: Who pays?\n\nA: You do.',
    ['Q: How long?\nA: 30 days.', 'Q: Who pays?\n\nA: You do.'],
  ],
  ['问：多久？\n答：三十天。\n问：谁付？\n答：您。', ['问：多久？\n答：三十天。', '问：谁付？\n答：您。']],
  ['How long?\n30 days.\n\nWho pays?\nYou do.', ['How long?\n30 days.', 'Who pays?\nYou do.']],
  ['1. How long?\n30 days.\n2. Who pays?\nYou do.', ['1. How long?\n30 days.', '2. Who pays?\nYou do.']],
  ['## How long?\n30 days.\n\n## Who pays?\nYou do.', ['## How long?\n30 days.', '## Who pays?\nYou do.']],
  ['**How long?**\n\n30 days.\n\n**Who pays?**\n\nYou.', ['**How long?**\n\n30 days.', '**Who pays?**\n\nYou.']],
])('a faq has a passage for each question: %j', (content, texts) => {
  expect(textsOf(content, 'faq').map(([, text]) => text)).toEqual(texts);
});

test('a question that is a heading is not matched with the questions behind it', () => {
  const content = '# Orders\n\n## How long?\n30 days.\n\n**Who pays?**\nYou do.\n\n## More\n\nQ: Why?\nA: So.';
  expect(textsOf(content, 'faq')).toEqual([
    ['Orders', '## How long?\n30 days.'],
    ['Orders', '**Who pays?**\nYou do.'],
    ['Orders\nMore', 'Q: Why?\nA: So.'],
  ]);
});

test('a long answer is matched by its question in every part', () => {
  const texts = textsOf(`Q: Who pays for it?\n\nA: ${LONG} ${LONG} ${LONG}`, 'faq');
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.slice(1).map(([heading]) => heading)).toEqual(texts.slice(1).map(() => 'Q: Who pays for it?'));
});

test('a manual keeps steps together', () => {
  const steps = Array.from({ length: 30 }, (_, i) => `${i + 1}. ${ITEM}`).join('\n\n');
  expect(textsOf(`To send goods back:\n\n${steps}\n\nThat is all.`, 'manual').map(([, text]) => text)).toContain(steps);
  expect(textsOf(steps, 'general').length).toBeGreaterThan(1);
});

const MARKS = ['# ', '## ', '\n', '\n\n', '- ', '1. ', '| a | b |\n', '```\n', '===\n', 'Q: ', '? ', '。', '. '];
const WORDS = [
  'word ',
  'x'.repeat(900),
  '中'.repeat(500),
  '  ',
  '\t',
  '\u2003',
  '\r\n',
  'e.g. ',
  '3.5',
  '…',
  '”',
  '👍',
];
const PIECES = fc.constantFrom(...MARKS, ...WORDS);
const CONTENTS = fc.oneof(
  fc.array(PIECES, { maxLength: 60 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary' }),
);

test('every passage is a part of the text, in order, not too long; together they hold all of it', () => {
  fc.assert(
    fc.property(CONTENTS, fc.constantFrom(...BASE_TYPES), (content, type) => {
      const isHeld = new Uint8Array(content.length);
      let lastStart = -1;
      let headings = '';
      for (const chunk of chunksOf(content, type)) {
        if (!chunk) continue;
        const { start, end, heading } = chunk;
        const text = content.slice(start, end);
        expect(text.isWellFormed() || !content.isWellFormed()).toBe(true);
        expect(text.trim()).toBe(text);
        expect(text).not.toBe('');
        expect(start).toBeGreaterThan(lastStart);
        expect(costOf(content, chunk)).toBeLessThanOrEqual(type === 'manual' ? 3 * MOST_COST : MOST_COST);
        isHeld.fill(1, start, end);
        lastStart = start;
        headings += heading;
      }
      const left = Array.from(content, (_, at) => (isHeld[at] === 1 ? '' : content.charAt(at))).join('');
      const words = left.replace(/[#=\-\s]+/gu, ' ').split(' ');
      expect(words.filter((word) => !headings.includes(word))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('megabytes are cut in slices between which others are served', async () => {
  const contents = [
    'word. '.repeat(1_700_000),
    '# x\n'.repeat(500_000),
    '\n'.repeat(10_000_000),
    'y'.repeat(10_000_000),
  ];
  for (const content of contents) {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await chunkInSlices(content, 'general');
    isOver = true;
    expect(turns).toBeGreaterThan(2);
  }
});
