import type { Worker } from 'node:worker_threads';
import { cutText } from '../cut-text.ts';
import type { Embedder, EmbeddingPurpose } from '../embedder.ts';
import type { ThreadReply, ThreadRequest } from './serve-texts.ts';

interface ThreadEmbedderOptions {
  model: string;
  /** Starts the thread, which calls `serveTexts`. */
  start: () => Worker;
  /** Characters of a text that the model reads. */
  maxCharacters: number;
  /** What the thread is given at once: as little as it does well, because a query waits for it. */
  slice: { texts: number; characters: number };
  /** Milliseconds without work after which the thread is ended. */
  idleMs?: number;
}

/** A call of `embed`. */
interface Job {
  texts: readonly string[];
  purpose: EmbeddingPurpose;
  vectors: (Float32Array | null)[];
  /** Indices of the texts that are still to be embedded. */
  left: number[];
  settle: { resolve: (vectors: (Float32Array | null)[]) => void; reject: (reason: unknown) => void };
}

const IDLE_MS = 5 * 60_000;

/** Embeds in a thread, which is there only while it is needed. Queries go before passages. */
export class ThreadEmbedder implements Embedder {
  readonly model: string;
  readonly #options: ThreadEmbedderOptions;
  readonly #jobs: Record<EmbeddingPurpose, Set<Job>> = { query: new Set(), passage: new Set() };
  #worker: Worker | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #isBusy = false;
  #isClosed = false;

  constructor(options: ThreadEmbedderOptions) {
    this.model = options.model;
    this.#options = options;
  }

  async embed(
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal: AbortSignal,
  ): Promise<(Float32Array | null)[]> {
    signal.throwIfAborted();
    if (this.#isClosed) throw closedError();
    const left = [...texts.keys()].filter((index) => texts[index]?.trim());
    const vectors = texts.map(() => null);
    if (left.length === 0) return vectors;
    const { promise, resolve, reject } = Promise.withResolvers<(Float32Array | null)[]>();
    const job: Job = { texts, purpose, vectors, left, settle: { resolve, reject } };
    this.#jobs[purpose].add(job);
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    void this.#work();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#jobs[purpose].delete(job);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of [...this.#jobs.query, ...this.#jobs.passage]) job.settle.reject(closedError());
    await this.#endThread();
  }

  /** Whether the thread, and so the model, is in memory. */
  get isLoaded(): boolean {
    return this.#worker !== undefined;
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    clearTimeout(this.#idleTimer);
    for (let job = this.#nextJob(); job; job = this.#nextJob()) await this.#doSlice(job);
    this.#isBusy = false;
    this.#worker?.unref();
    this.#idleTimer = setTimeout(() => void this.#endThread(), this.#options.idleMs ?? IDLE_MS).unref();
  }

  #nextJob(): Job | undefined {
    const [job] = this.#jobs.query.size > 0 ? this.#jobs.query : this.#jobs.passage;
    return job;
  }

  async #doSlice(job: Job): Promise<void> {
    const slice = this.#takeSlice(job);
    try {
      const vectors = await this.#ask(slice.texts, job.purpose);
      for (const [position, index] of slice.indices.entries()) job.vectors[index] = vectors[position] ?? null;
      if (job.left.length > 0) return;
      job.settle.resolve(job.vectors);
    } catch (error) {
      job.settle.reject(error);
    }
    this.#jobs[job.purpose].delete(job);
  }

  #takeSlice(job: Job): { texts: string[]; indices: number[] } {
    const { slice, maxCharacters } = this.#options;
    const texts: string[] = [];
    let characters = 0;
    for (const index of job.left) {
      const text = cutText(job.texts[index] ?? '', maxCharacters);
      characters += text.length;
      if (texts.length > 0 && (texts.length === slice.texts || characters > slice.characters)) break;
      texts.push(text);
    }
    return { texts, indices: job.left.splice(0, texts.length) };
  }

  /** Throws when the engine fails, or when the thread ends, which the next request starts anew. */
  async #ask(texts: string[], purpose: EmbeddingPurpose): Promise<(Float32Array | null)[]> {
    if (this.#isClosed) throw closedError();
    const worker = this.#worker ?? this.#startThread();
    worker.ref();
    const { promise, resolve, reject } = Promise.withResolvers<ThreadReply>();
    const onExit = (): void => reject(new Error('the thread of the embedding model has ended'));
    worker.once('message', resolve).once('error', reject).once('exit', onExit);
    const request: ThreadRequest = { texts, purpose };
    worker.postMessage(request, []);
    try {
      const reply = await promise;
      if ('failure' in reply) throw new Error(reply.failure);
      return reply.vectors;
    } catch (error) {
      if (this.#worker === worker) await this.#endThread();
      throw error;
    } finally {
      worker.off('message', resolve).off('error', reject).off('exit', onExit);
    }
  }

  #startThread(): Worker {
    const worker = this.#options.start();
    this.#worker = worker;
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    // Whoever waits for an answer hears of it; without a listener it would end the process.
    worker.on('error', () => undefined);
    return worker;
  }

  async #endThread(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    clearTimeout(this.#idleTimer);
    await worker?.terminate();
  }
}

function closedError(): Error {
  return new Error('The embedder is closed.');
}
