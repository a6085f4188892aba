import { termsOf } from '../../../platform/text/index.ts';

/** Terms of one node's properties that are looked at. */
const MOST_TERMS = 2000;

/** A text in the form in which texts are compared: compatible characters alike, lower case, on one line. */
export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** Pairs of neighbouring characters of a folded text, each once. */
export function innerPairsOf(folded: string): Set<string> {
  const pairs = new Set<string>();
  for (let i = 0; i + 1 < folded.length; i++) pairs.add(folded.slice(i, i + 2));
  return pairs;
}

/** The same of the text with a blank at each end. */
export function pairsOf(folded: string): Set<string> {
  return innerPairsOf(` ${folded} `);
}

export function sharedPairs(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared++;
  return shared;
}

/** Dice's coefficient: twice what two sets share, by what they hold together. */
export function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return (2 * sharedPairs(a, b)) / (a.size + b.size);
}

function collectTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') texts.push(String(value));
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collectTexts(item, texts);
}

/** Terms of the values of properties, given as JSON text, each once. */
export function termsOfProperties(json: string): Set<string> {
  const texts: string[] = [];
  collectTexts(JSON.parse(json), texts);
  return new Set(termsOf(texts.join(' \n ')).slice(0, MOST_TERMS));
}
