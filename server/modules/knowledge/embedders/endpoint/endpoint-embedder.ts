import type { TrustedClient } from '../../../../platform/net/index.ts';
import type { EndpointSettings } from '../../knowledge.settings.ts';
import { cutText } from '../cut-text.ts';
import type { Embedder, EmbeddingPurpose } from '../embedder.ts';
import { pause, postTexts, type Patience, type Server } from './post-texts.ts';
import { readAnswer } from './read-answer.ts';

interface EndpointOptions {
  settings: EndpointSettings;
  client: Pick<TrustedClient, 'request'>;
  /** Replaced in tests. */
  sleep?: Server['sleep'];
}

type Vectors = (Float32Array | null)[];

/** `isWhole`: by one request, with every text as long as it was asked for. */
interface Embedded {
  vectors: Vectors;
  isWhole: boolean;
}

/** Texts of one request; halved when the server shows that it takes fewer. */
const BATCH_TEXTS = 32;
/** Characters of one request, unless a single text has more. */
const BATCH_CHARACTERS = 64_000;
/** What is embedded of a text: as much as the models of today read. */
const MAX_CHARACTERS = 8000;
/** A text that is refused is cut in half until it has less than this. */
const MIN_CHARACTERS = 200;

/** Somebody waits for the vector of a query, and words can answer without it. */
const PATIENCE: Record<EmbeddingPurpose, Patience> = {
  query: { timeoutMs: 10_000, retries: 1, maxWaitMs: 1000 },
  passage: { timeoutMs: 60_000, retries: 5, maxWaitMs: 30_000 },
};

/** Asks a server that speaks OpenAI's embeddings API, https://platform.openai.com/docs/api-reference/embeddings. */
export class EndpointEmbedder implements Embedder {
  readonly model: string;
  readonly #server: Server;
  readonly #closing = new AbortController();
  #batchTexts = BATCH_TEXTS;
  /** Numbers in each vector, known from the first answer on. */
  #dimensions: number | undefined;

  constructor({ settings, client, sleep }: EndpointOptions) {
    this.model = `endpoint:${settings.model}`;
    this.#server = { ...settings, client, sleep: sleep ?? pause };
  }

  async embed(texts: readonly string[], purpose: EmbeddingPurpose, signal: AbortSignal): Promise<Vectors> {
    const vectors: Vectors = texts.map(() => null);
    // Servers refuse empty texts, and whole batches for one of them.
    const asked = [...texts.keys()].filter((index) => texts[index]?.trim());
    const shown = asked.map((index) => cutText(texts[index] ?? '', MAX_CHARACTERS).toWellFormed());
    const options = { ...PATIENCE[purpose], signal: AbortSignal.any([signal, this.#closing.signal]) };
    options.signal.throwIfAborted();
    for (let at = 0; at < shown.length;) {
      const batch = this.#takeBatch(shown, at);
      const answered = await this.#embedBatch(batch, options);
      for (const [offset, vector] of answered.vectors.entries()) vectors[asked[at + offset] ?? 0] = vector;
      at += batch.length;
    }
    return vectors;
  }

  close(): Promise<void> {
    this.#closing.abort(new Error('The embedder is closed.'));
    return Promise.resolve();
  }

  #takeBatch(texts: readonly string[], from: number): string[] {
    let characters = 0;
    let to = from;
    for (; to < texts.length && to - from < this.#batchTexts; to++) {
      characters += texts[to]?.length ?? 0;
      if (to > from && characters > BATCH_CHARACTERS) break;
    }
    return texts.slice(from, to);
  }

  /** What is refused as a whole may be accepted in halves: servers limit texts and tokens, each in its own way. */
  async #embedBatch(texts: string[], options: Patience & { signal: AbortSignal }): Promise<Embedded> {
    const outcome = await postTexts(this.#server, texts, options);
    if (outcome.isAnswered) return { vectors: this.#checked(readAnswer(outcome.body, texts.length)), isWhole: true };
    if (!outcome.isRefused) throw outcome.error;
    if (texts.length === 1) {
      const [text = ''] = texts;
      if (text.length < MIN_CHARACTERS) throw outcome.error;
      return { ...(await this.#embedBatch([cutText(text, text.length >> 1)], options)), isWhole: false };
    }
    const half = Math.ceil(texts.length / 2);
    // In order: what no request can mend, such as a wrong model, shows in the first half alone.
    const first = await this.#embedBatch(texts.slice(0, half), options);
    const second = await this.#embedBatch(texts.slice(half), options);
    if (first.isWhole && second.isWhole) this.#batchTexts = Math.min(this.#batchTexts, half);
    return { vectors: [...first.vectors, ...second.vectors], isWhole: false };
  }

  #checked(vectors: Vectors): Vectors {
    for (const vector of vectors) {
      this.#dimensions ??= vector?.length;
      if (vector && vector.length !== this.#dimensions) {
        throw new Error(
          `The embedding server answered a vector of ${vector.length} numbers after others of ${this.#dimensions}.`,
        );
      }
    }
    return vectors;
  }
}
