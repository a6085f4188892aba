import type { BaseType } from '../../../../contract/routes/knowledge.ts';
import { blocksOf, type Block } from './blocks.ts';
import type { Chunk } from './chunk.ts';
import { Packer } from './packer.ts';

/** Characters of a question that are matched with later parts of its answer. */
const QUESTION_LENGTH = 300;

interface Heading {
  level: number;
  title: string;
  /** Of a faq: it is about what stands below, not about the questions behind that. */
  isQuestion: boolean;
}

type Chunks = Generator<Chunk | undefined>;

/** Cuts one document; what it has read so far decides what comes next. */
class Chunker {
  readonly #content: string;
  readonly #isFaq: boolean;
  readonly #packer: Packer;
  /** The headings above, outermost first. */
  #path: Heading[] = [];
  /** A heading that nothing stands below so far. */
  #bare: Block | undefined;

  constructor(content: string, type: BaseType) {
    this.#content = content;
    this.#isFaq = type === 'faq';
    this.#packer = new Packer(content, { keepsSteps: type === 'manual' });
  }

  *run(): Chunks {
    for (const block of blocksOf(this.#content, { splitsQuestions: this.#isFaq })) {
      if (!block) yield undefined;
      else yield* block.kind === 'heading' ? this.#takeHeading(block) : this.#takeText(block);
    }
    yield* this.#endHeading(0);
    yield* this.#packer.flush();
  }

  *#takeHeading(block: Block): Chunks {
    yield* this.#endHeading(block.level);
    this.#path = this.#path.filter(({ level }) => level < block.level);
    this.#path.push({ level: block.level, title: block.title, isQuestion: this.#isFaq && block.isQuestion });
    this.#bare = block;
  }

  /** A heading with nothing below it is text itself, together with its neighbours of that kind. */
  *#endHeading(nextLevel: number): Chunks {
    const bare = this.#bare;
    this.#bare = undefined;
    if (!bare) {
      yield* this.#packer.flush();
    } else if (nextLevel <= bare.level) {
      this.#path.pop();
      yield* this.#begin(this.#headings());
      yield* this.#packer.add({ ...bare, kind: 'paragraph' });
    }
  }

  /** Begins a section, unless the one before has the same headings. */
  *#begin(heading: string): Chunks {
    if (this.#packer.heading !== heading) yield* this.#packer.flush();
    this.#packer.heading = heading;
  }

  *#takeText(block: Block): Chunks {
    const bare = this.#bare;
    this.#bare = undefined;
    if (this.#isFaq && block.isQuestion) {
      if (!bare) this.#path = this.#path.filter(({ isQuestion }) => !isQuestion);
      yield* this.#packer.flush();
      this.#packer.heading = this.#headings();
      this.#packer.laterHeading = this.#questionHeading(block);
    } else if (bare && this.#isFaq) {
      // The heading of a pair is its question, and is shown with the answer.
      yield* this.#packer.flush();
      this.#packer.heading = this.#headings(-1);
      this.#packer.laterHeading = this.#headings();
      yield* this.#packer.add({ ...bare, kind: 'paragraph' });
    } else if (bare) {
      yield* this.#packer.flush();
      this.#packer.heading = this.#headings();
    }
    yield* this.#packer.add(block);
  }

  #headings(end?: number): string {
    return this.#path
      .slice(0, end)
      .map(({ title }) => title)
      .join('\n');
  }

  /** The question, for the later parts of a long answer. */
  #questionHeading({ start, end }: Block): string {
    const [line = ''] = this.#content.slice(start, Math.min(end, start + QUESTION_LENGTH)).split('\n', 1);
    return `${this.#headings()}\n${line.trim()}`.trim();
  }
}

/**
 * Cuts a document into passages of at most about 400 tokens, lazily, at its headings, blocks and sentences. A passage
 * repeats a little of the one before where a section goes on. In a faq each question stands with its answer; in a manual
 * numbered steps stay together. Gives undefined now and then, so that a reader can pause.
 */
export function chunksOf(content: string, type: BaseType): Chunks {
  return new Chunker(content, type).run();
}
