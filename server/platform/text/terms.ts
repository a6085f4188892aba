import { stemmer } from 'stemmer';

const RUNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+|[[\p{L}\p{N}\p{M}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]]+/gv;
const IDEOGRAPHS = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Longer ones are not words. */
const ENGLISH = /^[a-z]{1,40}$/u;

/** Stems that were asked for before: a text says most of its words again. */
const stems = new Map<string, string>();
const MOST_STEMS = 50_000;

function stemOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const stem = stemmer(word);
  if (stems.size === MOST_STEMS) stems.clear();
  // A copy: the word may be a slice that keeps the whole text in memory.
  stems.set(Buffer.from(word).toString('latin1'), stem);
  return stem;
}

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
    return [ENGLISH.test(run) ? stemOf(run) : run];
  });
}
