import { matchesFilter } from '../../../platform/outbox/index.ts';
import { Pace } from '../next-turn.ts';

/** Filters whose outcomes are remembered. */
const MOST_FILTERS = 16;
/** Texts that are looked at between two looks at the clock. */
const TEXTS_AT_ONCE = 100;

/** Safe because only objects are stored as metadata. */
function parseMetadata(text: string): Record<string, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(text) as Record<string, unknown>;
}

/** Metadata of documents as JSON text, each different one once. */
export class MetadataSet {
  readonly #texts: string[];
  readonly #numbers = new Map<string, number>();
  /** By filter, the outcome for the first so many texts. */
  readonly #outcomes = new Map<string, boolean[]>();
  #length = 0;

  constructor(texts: readonly string[] = []) {
    this.#texts = [];
    for (const text of texts) this.add(text);
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  get bytes(): number {
    return 2 * this.#length + 100 * this.#texts.length;
  }

  add(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const no = this.#texts.push(text) - 1;
    this.#numbers.set(text, no);
    this.#length += text.length;
    return no;
  }

  /** By number, whether the metadata passes a filter: of all texts that are there at the end. */
  async passing(filter: Record<string, unknown>): Promise<readonly boolean[]> {
    const outcomes = this.#remember(JSON.stringify(filter));
    const pace = new Pace();
    while (outcomes.length < this.#texts.length) {
      for (const text of this.#texts.slice(outcomes.length, outcomes.length + TEXTS_AT_ONCE)) {
        outcomes.push(matchesFilter(filter, parseMetadata(text)));
      }
      if (pace.isOver) await pace.rest();
    }
    return outcomes;
  }

  #remember(filter: string): boolean[] {
    const outcomes = this.#outcomes.get(filter) ?? [];
    this.#outcomes.delete(filter);
    this.#outcomes.set(filter, outcomes);
    const [oldest] = this.#outcomes.keys();
    if (this.#outcomes.size > MOST_FILTERS && oldest !== undefined) this.#outcomes.delete(oldest);
    return outcomes;
  }
}
