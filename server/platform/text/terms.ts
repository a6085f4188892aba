import { stemmer } from 'stemmer';

const RUNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+|[\p{L}\p{N}\p{M}]+/gu;
const IDEOGRAPHS = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const ENGLISH = /^[a-z]+$/u;

/** Nothing separates words in a run of ideographs: each two neighbours are a term, and one alone is one. */
function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
}

/**
 * The terms of a text in their order, repeated as they are: words in lower case after NFKC, English ones stemmed
 * (Porter 1980), and of Chinese and Japanese the pairs of neighbouring characters.
 */
export function termsOf(text: string): string[] {
  const runs = text.normalize('NFKC').toLowerCase().match(RUNS) ?? [];
  return runs.flatMap((run) => {
    if (IDEOGRAPHS.test(run)) return pairsOf(run);
    return [ENGLISH.test(run) ? stemmer(run) : run];
  });
}
