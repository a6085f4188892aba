import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const FOLDER = process.env['TEST_DATA_DIR'] ?? fileURLToPath(new URL('../../../shared/data', import.meta.url));
const CUT = 10;

interface Item {
  _id: string;
  title?: string;
  text: string;
}

/** A collection of documents with questions, and which documents answer them how well. */
export interface Collection {
  name: string;
  documents: Item[];
  /** Those that have an answer. */
  questions: Item[];
  /** By question, the grade of each document that answers it. */
  grades: Map<string, Map<string, number>>;
}

async function linesOf(path: string): Promise<string[]> {
  return (await readFile(`${FOLDER}/retrieval/${path}`, 'utf8')).trim().split('\n');
}

/** Safe because the collections have that form; a bench is not a boundary. */
function parseItem(line: string): Item {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(line) as Item;
}

export async function readCollection(name: string): Promise<Collection> {
  // A few have no text at all.
  const documents = (await linesOf(`${name}/corpus.jsonl`)).map(parseItem).filter(({ text }) => text !== '');
  const grades = new Map<string, Map<string, number>>();
  for (const line of (await linesOf(`${name}/qrels/test.tsv`)).slice(1)) {
    const [question = '', document = '', grade = '0'] = line.split('\t');
    if (Number(grade) <= 0) continue;
    const graded = grades.get(question) ?? new Map<string, number>();
    grades.set(question, graded.set(document, Number(grade)));
  }
  const questions = (await linesOf(`${name}/queries.jsonl`)).map(parseItem).filter(({ _id }) => grades.has(_id));
  return { name, documents, questions, grades };
}

function gain(grades: readonly number[]): number {
  return grades.slice(0, CUT).reduce((sum, grade, rank) => sum + grade / Math.log2(rank + 2), 0);
}

/** nDCG@10 of documents in the order in which they were found. */
export function ndcg({ grades }: Collection, question: Item, found: readonly string[]): number {
  const graded = grades.get(question._id) ?? new Map<string, number>();
  const best = [...graded.values()].toSorted((a, b) => b - a);
  return gain(found.map((document) => graded.get(document) ?? 0)) / gain(best);
}

/** Pieces of so many characters that repeat a few of the one before, as platforms for retrieval cut texts by default. */
export function fixedPieces(documents: readonly Item[], size = 500, overlap = 50): Item[] {
  return documents.flatMap(({ text, ...rest }) => {
    const count = Math.max(1, Math.ceil((text.length - overlap) / (size - overlap)));
    const startOf = (at: number): number => at * (size - overlap);
    return Array.from({ length: count }, (_, at) => ({ ...rest, text: text.slice(startOf(at), startOf(at) + size) }));
  });
}

/** BM25 as in the textbook over whole documents, or pieces of them, by its own reading of the words. */
export function textbookBm25(
  documents: readonly Item[],
  termsOf: (text: string) => string[],
  { k1, b }: { k1: number; b: number } = { k1: 0.9, b: 0.4 },
) {
  const counted = documents.map(({ _id, title = '', text }) => {
    const counts = new Map<string, number>();
    const terms = termsOf(`${title} ${text}`);
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    return { _id, counts, length: terms.length };
  });
  const average = counted.reduce((sum, { length }) => sum + length, 0) / counted.length;
  const holders = new Map<string, number>();
  for (const { counts } of counted) for (const term of counts.keys()) holders.set(term, (holders.get(term) ?? 0) + 1);
  return (question: string): string[] => {
    const terms = termsOf(question).map((term) => {
      const held = holders.get(term) ?? 0;
      return { term, idf: Math.log(1 + (counted.length - held + 0.5) / (held + 0.5)) };
    });
    const scored = counted.map(({ _id, counts, length }) => {
      const score = terms.reduce((sum, { term, idf }) => {
        const count = counts.get(term) ?? 0;
        return sum + (idf * count * (k1 + 1)) / (count + k1 * (1 - b + (b * length) / average));
      }, 0);
      return { _id, score };
    });
    const found = scored.filter(({ score }) => score > 0).toSorted((one, other) => other.score - one.score);
    return [...new Set(found.map(({ _id }) => _id))].slice(0, CUT);
  };
}
