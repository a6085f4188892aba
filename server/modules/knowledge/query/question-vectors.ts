import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { errorMessage } from '../../../platform/errors/index.ts';
import type { Embedder } from '../embedders/embedder.ts';

/** Questions whose vectors are remembered. */
const MOST_REMEMBERED = 2000;
/** Longer than an embedder needs; after it, words answer alone. */
const TIMEOUT_MS = 10_000;
const WARN_EVERY_MS = 60_000;

type Answer = Promise<Float32Array | undefined>;

/** Vectors of questions, each asked for once. */
export class QuestionVectors {
  readonly #embedder: Embedder;
  readonly #log: Logger;
  /** By a hash of the question, which may be long; in order of use, the oldest first. */
  readonly #known = new Map<string, Answer>();
  #warnedAtMs = -Infinity;

  constructor(embedder: Embedder, log: Logger) {
    this.#embedder = embedder;
    this.#log = log;
  }

  /** The vector of a question; undefined when the model does not know its script, or cannot answer now. */
  of(text: string): Answer {
    const id = hash('sha256', text, 'base64');
    const vector = this.#known.get(id) ?? this.#ask(id, text);
    this.#known.delete(id);
    this.#known.set(id, vector);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    return vector;
  }

  async #ask(id: string, text: string): Promise<Float32Array | undefined> {
    try {
      const [vector] = await this.#embedder.embed([text], 'query', AbortSignal.timeout(TIMEOUT_MS));
      return vector ?? undefined;
    } catch (error) {
      this.#known.delete(id);
      if (performance.now() - this.#warnedAtMs > WARN_EVERY_MS) {
        this.#warnedAtMs = performance.now();
        this.#log.warn(`a question was answered by words alone: ${errorMessage(error)}`);
      }
      return undefined;
    }
  }
}
