const WORDS = /[\p{L}\p{N}]+/gu;
const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** Words of one node's properties that are looked at. */
const MOST_WORDS = 2000;

/** A text in the form in which texts are compared: compatible characters alike, lower case, on one line. */
export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** Pairs of neighbouring characters of a folded text with a blank at each end, each once. */
export function pairsOf(folded: string): Set<string> {
  const padded = ` ${folded} `;
  const pairs = new Set<string>();
  for (let i = 0; i + 1 < padded.length; i++) pairs.add(padded.slice(i, i + 2));
  return pairs;
}

/** Words of a folded text; of a run of ideographs its pairs, since nothing separates words there. */
export function wordsOf(folded: string): string[] {
  return (folded.match(WORDS) ?? []).flatMap((word) => {
    if (!IDEOGRAPHS.test(word) || word.length <= 2) return [word];
    return Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2));
  });
}

function collectTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') texts.push(String(value));
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collectTexts(item, texts);
}

/** Words of the values of properties, given as JSON text, each once. */
export function wordsOfProperties(json: string): Set<string> {
  const texts: string[] = [];
  collectTexts(JSON.parse(json), texts);
  return new Set(wordsOf(foldText(texts.join(' \n '))).slice(0, MOST_WORDS));
}
