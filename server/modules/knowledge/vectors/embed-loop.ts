import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../../platform/db/index.ts';
import { errorMessage } from '../../../platform/errors/index.ts';
import { createId } from '../../../platform/ids/index.ts';
import type { Embedder } from '../embedders/embedder.ts';
import type { BaseKey } from '../store/base.store.ts';
import { chunksAfter, type ChunkRow } from '../store/changes.store.ts';
import {
  advanceClaim,
  basesLackingVectors,
  claimBase,
  insertVectors,
  nextBatch,
  releaseClaim,
  type EmbeddingClaim,
  type NewVector,
} from '../store/embedding.store.ts';

/** Passages that are embedded and stored at once. */
const BATCH = 32;
/** Batches after which another base has its turn. */
const BATCHES_IN_TURN = 16;
/** How often a process looks at all bases: for what it was not told of, and for what another one has left. */
const LOOK_MS = 60_000;
/** Bases that one look finds. */
const MOST_FOUND = 1000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
const EMBED_TIMEOUT_MS = 50_000;

export interface EmbedLoopOptions {
  database: Database;
  embedder: Embedder;
  log: Logger;
  /** Told of bases that have got vectors. */
  onStored: (base: BaseKey) => void;
}

/** Models read only so far: a long title or heading must not keep them from the text. */
const MAX_TOPIC_LENGTH = 100;

function textOf({ title, heading, text }: ChunkRow): string {
  const topics = [title, heading].map((topic) => topic.slice(0, MAX_TOPIC_LENGTH));
  return [...topics, text].filter((part) => part !== '').join('\n');
}

/** Gives chunks their vectors, behind the answers that store them. Processes that share a database share the work. */
export class EmbedLoop {
  readonly #options: EmbedLoopOptions;
  readonly #worker: { model: string; owner: string };
  readonly #closing = new AbortController();
  #wake = new AbortController();
  /** Bases that may lack vectors, by number, the one that has waited for the longest time first. */
  readonly #waiting = new Map<number, BaseKey>();
  #lookAtMs = 0;
  /** Whether the last look may have left bases out. */
  #isMore = false;
  readonly #ended: Promise<void>;

  constructor(options: EmbedLoopOptions) {
    this.#options = options;
    this.#worker = { model: options.embedder.model, owner: createId('proc') };
    this.#ended = this.#run();
  }

  /** A base has got a document. */
  add(base: BaseKey): void {
    this.#waiting.set(base.no, base);
    this.#wake.abort();
  }

  /** Something may have been missed. */
  lookAgain(): void {
    this.#lookAtMs = 0;
    this.#wake.abort();
  }

  /** Ends what is under way; another process, or the next start, goes on with it. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#isClosed) {
      try {
        const base = await this.#next();
        if (base) await this.#work(base);
        else await this.#pause(this.#lookAtMs - performance.now());
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        if (this.#isClosed) return;
        this.#options.log.warn(`passages wait for their vectors: ${errorMessage(error)}`);
        await sleep(pauseMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    const signal = AbortSignal.any([this.#wake.signal, this.#closing.signal]);
    await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
    this.#wake = new AbortController();
  }

  async #next(): Promise<BaseKey | undefined> {
    const isDone = this.#waiting.size === 0 && this.#isMore;
    if (isDone || performance.now() >= this.#lookAtMs) await this.#look();
    const [base] = this.#waiting.values();
    if (base) this.#waiting.delete(base.no);
    return base;
  }

  async #look(): Promise<void> {
    this.#lookAtMs = performance.now() + LOOK_MS;
    const found = await basesLackingVectors(this.#options.database, this.#worker, MOST_FOUND);
    for (const base of found) this.#waiting.set(base.no, base);
    this.#isMore = found.length === MOST_FOUND;
  }

  async #work(base: BaseKey): Promise<void> {
    const { database } = this.#options;
    const claim = await claimBase(database, this.#worker, base);
    if (!claim) return;
    let isDone = false;
    try {
      for (let i = 0; i < BATCHES_IN_TURN && !isDone && !this.#isClosed; i++) isDone = await this.#embedBatch(claim);
    } finally {
      if (!isDone) this.#waiting.set(base.no, base);
      await releaseClaim(database, this.#worker, { ...claim, isDone });
    }
  }

  /** Embeds what comes next in a base, and notes it in the claim; true when nothing comes any more. */
  async #embedBatch(claim: EmbeddingClaim): Promise<boolean> {
    const { database, embedder, onStored } = this.#options;
    const { documentNo, position } = claim;
    const rows = await chunksAfter(database, claim, { documentNo, position, limit: BATCH });
    const last = rows.at(-1);
    if (!last) return true;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(EMBED_TIMEOUT_MS)]);
    const embedded = await embedder.embed(rows.map(textOf), 'passage', signal);
    const vectors = rows.flatMap((row, at): NewVector[] => {
      const vector = embedded[at];
      return vector ? [{ documentNo: row.documentNo, position: row.position, vector }] : [];
    });
    claim.documentNo = last.documentNo;
    claim.position = last.position;
    const isStored = await this.#store(claim, vectors);
    if (isStored) onStored(claim);
    return !isStored || rows.length < BATCH;
  }

  /** False when the base is gone, or another process has taken it on. */
  #store(claim: EmbeddingClaim, vectors: readonly NewVector[]): Promise<boolean> {
    const { model } = this.#worker;
    return this.#options.database.transaction(async (tx) => {
      const batch = await nextBatch(tx, claim);
      if (batch === undefined || !(await advanceClaim(tx, this.#worker, claim))) return false;
      if (vectors.length > 0) await insertVectors(tx, claim, { model, batch, vectors });
      return true;
    });
  }
}
