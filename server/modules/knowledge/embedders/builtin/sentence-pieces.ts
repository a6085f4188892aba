/** A piece of a word with the logarithm of its probability, as the vocabulary lists them. */
export type Piece = readonly [text: string, score: number];

interface Node {
  children: Map<string, Node>;
  id: number;
  /** Undefined where no piece ends. */
  score: number | undefined;
}

/** Stands before every word. */
const WORD_START = '\u2581';
const UNKNOWN = 0;
/** The first pieces are marks for the model, not text. */
const RESERVED = 6;

const LETTERS = /\p{L}/gu;
const LATIN = /\p{Script=Latin}/u;

/** Splits texts into the pieces that a model was trained on: the most probable ones, https://arxiv.org/abs/1804.10959. */
export class SentencePieces {
  readonly #root: Node = { children: new Map(), id: UNKNOWN, score: undefined };
  readonly #wordStart: number;

  constructor(vocabulary: readonly Piece[]) {
    for (const [id, [text, score]] of vocabulary.entries()) if (id >= RESERVED) this.#add(text, id, score);
    this.#wordStart = this.#root.children.get(WORD_START)?.id ?? UNKNOWN;
  }

  /**
   * The numbers of a text's pieces, at most so many; none when they would say nothing: there are no known ones, or most
   * letters are not Latin. A run of unknown characters counts as one piece.
   */
  encode(text: string, maxPieces: number): number[] {
    const normal = text.normalize('NFKC');
    if (!this.#canRead(normal)) return [];
    const ids: number[] = [];
    for (const [word] of normal.matchAll(/\S+/gu)) {
      ids.push(...this.#encodeWord(Array.from(WORD_START + word)));
      if (ids.length >= maxPieces) break;
    }
    return ids.some((id) => id !== UNKNOWN && id !== this.#wordStart) ? ids.slice(0, maxPieces) : [];
  }

  #add(text: string, id: number, score: number): void {
    let node = this.#root;
    for (const character of text) {
      const next = node.children.get(character) ?? { children: new Map(), id: UNKNOWN, score: undefined };
      node.children.set(character, next);
      node = next;
    }
    node.id = id;
    node.score = score;
  }

  #canRead(text: string): boolean {
    let letters = 0;
    let known = 0;
    for (const [letter] of text.matchAll(LETTERS)) {
      letters++;
      if (LATIN.test(letter) && this.#root.children.has(letter)) known++;
    }
    return known * 2 >= letters;
  }

  /** The best way to each position is the best over the pieces that end there. */
  #encodeWord(characters: readonly string[]): number[] {
    const scores = new Float64Array(characters.length + 1).fill(-Infinity);
    scores[0] = 0;
    const ids = new Int32Array(scores.length);
    const starts = new Int32Array(scores.length);
    const offer = (start: number, end: number, piece: { id: number; score: number }): void => {
      const score = (scores[start] ?? 0) + piece.score;
      if (score < (scores[end] ?? 0)) return;
      scores[end] = score;
      ids[end] = piece.id;
      starts[end] = start;
    };
    for (let start = 0; start < characters.length; start++) {
      let isKnown = false;
      let node = this.#root.children.get(characters[start] ?? '');
      for (let end = start + 1; node; end++) {
        if (node.score !== undefined) {
          offer(start, end, { id: node.id, score: node.score });
          isKnown = true;
        }
        node = node.children.get(characters[end] ?? '');
      }
      if (!isKnown) offer(start, start + 1, { id: UNKNOWN, score: 0 });
    }
    return walkBack(ids, starts);
  }
}

function walkBack(ids: Int32Array, starts: Int32Array): number[] {
  const found: number[] = [];
  for (let end = ids.length - 1; end > 0; end = starts[end] ?? 0) {
    const id = ids[end] ?? UNKNOWN;
    if (id !== UNKNOWN || found.at(-1) !== UNKNOWN) found.push(id);
  }
  return found.toReversed();
}
