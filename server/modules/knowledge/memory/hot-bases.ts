import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../platform/db/index.ts';
import { findBase, type BaseKey, type BaseRow } from '../store/base.store.ts';
import { KEPT_COUNTERS } from '../store/replace-document.store.ts';
import { applyChanges, TooLargeError, type VectorSpace } from './apply-changes.ts';
import { BaseIndex } from './base-index.ts';
import { isBehind, savedOf, type Counters, type HotBase } from './hot-base.ts';
import type { SnapshotFolder } from './snapshot-folder.ts';
import { SnapshotSaves } from './snapshot-saves.ts';

/** How long writes gather before a base in memory takes them in. */
const REFRESH_DELAY_MS = 50;
/** Bases are loaded before anybody asks for them while those in memory take less than this share of what they may. */
const WARM_SHARE = 0.5;
/** How long a query waits for a base that is being loaded, before the database answers it. */
const LOAD_WAIT_MS = 400;
/** How long a base that took too much memory is left to the database. */
const TOO_LARGE_MS = 10 * 60_000;

export interface HotBasesOptions {
  database: Database;
  /** Bytes that all bases in memory may take; the least recently used go beyond that. */
  maxBytes: number;
  space: VectorSpace | undefined;
  snapshots: SnapshotFolder;
  /** Whether bases are loaded before anybody asks for them. */
  isEager: boolean;
  /** Told of a base that could not be loaded; the database goes on answering for it. */
  onError: (error: unknown) => void;
  /** Told of a document whose vectors cannot be compared with those of its base. */
  onMisfit: (base: BaseKey, documentNo: number) => void;
  /** Told of a base whose words fit into memory, and whose vectors do not. */
  onWordsAlone: (base: BaseKey) => void;
}

/** Bases in memory. Each is brought in step with the database before it answers. */
export class HotBases {
  readonly #options: HotBasesOptions;
  /** By number of the base, in order of use, the oldest first. */
  readonly #entries = new Map<number, HotBase>();
  readonly #loads = new Map<number, Promise<BaseIndex | undefined>>();
  readonly #saves: SnapshotSaves;
  readonly #tooLarge = new Map<number, number>();
  /** Bases whose changes are about to be taken in. */
  readonly #refreshing = new Set<number>();
  #isWarming = false;
  #isClosed = false;

  constructor(options: HotBasesOptions) {
    this.#options = options;
    this.#saves = new SnapshotSaves(options);
  }

  /** The base as of its row or later; undefined while it is loaded, and where it does not fit. */
  async current(row: BaseRow): Promise<BaseIndex | undefined> {
    if (this.#isTooLarge(row)) return undefined;
    const entry = this.#entries.get(row.no);
    if (!entry || row.counter - entry.index.counter > KEPT_COUNTERS) return this.#loaded(row);
    this.#entries.delete(row.no);
    this.#entries.set(row.no, entry);
    if (!isBehind(entry.index, row) || (await this.#catchUp(entry, row))) return entry.index;
    return undefined;
  }

  /** Resolves when a base that is being loaded is in memory, or does not fit; undefined when none is. */
  loading({ no }: BaseKey): Promise<BaseIndex | undefined> | undefined {
    return this.#loads.get(no);
  }

  /** Takes changes in without anybody waiting. What is not in memory is loaded, as long as nothing has to go for it. */
  refresh(base: BaseKey): void {
    if (this.#refreshing.has(base.no)) return;
    this.#refreshing.add(base.no);
    const refresh = async (): Promise<void> => {
      // What is written meanwhile is taken in together.
      await sleep(REFRESH_DELAY_MS, undefined, { ref: false });
      this.#refreshing.delete(base.no);
      if (this.#isClosed) return;
      const entry = this.#entries.get(base.no);
      await (entry ? this.#enqueue(entry) : this.#warm(base));
    };
    refresh().catch(this.#options.onError);
  }

  /** One at a time: writes to many bases must not wait for all of them to be loaded. */
  async #warm(base: BaseKey): Promise<void> {
    const { isEager, maxBytes } = this.#options;
    if (!isEager || this.#isWarming || this.#loads.has(base.no) || this.#isTooLarge(base)) return;
    if (this.#bytes > WARM_SHARE * maxBytes) return;
    this.#isWarming = true;
    try {
      const row = await findBase(this.#options.database, base);
      if (row?.no !== base.no) await this.forget(base);
      else if (!this.#entries.has(base.no)) await (this.#loads.get(base.no) ?? this.#load(row));
    } finally {
      this.#isWarming = false;
    }
  }

  /** Lets go of a base that was deleted. */
  async forget(row: BaseKey): Promise<void> {
    this.#drop(row.no);
    await this.#options.snapshots.remove(row);
  }

  /** Waits for what is being loaded, and writes down what changed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#loads.values());
    for (const entry of this.#entries.values()) {
      await entry.turn;
      if (isBehind(entry.saved, entry.index)) this.#saves.save(entry);
    }
    await Promise.all([...this.#entries.values()].map(({ turn }) => turn));
    await this.#saves.close();
  }

  async #loaded(row: BaseRow): Promise<BaseIndex | undefined> {
    const load = this.#loads.get(row.no) ?? this.#load(row);
    const index = await Promise.race([load, sleep(LOAD_WAIT_MS, undefined, { ref: false })]);
    if (!index || !isBehind(index, row)) return index;
    // The load had begun before that write.
    const entry = this.#entries.get(row.no);
    return entry && (await this.#catchUp(entry, row)) ? entry.index : undefined;
  }

  async #catchUp(entry: HotBase, row: BaseRow): Promise<boolean> {
    await this.#enqueue(entry, row);
    return !isBehind(entry.index, row);
  }

  /** Takes changes in when it is its turn, unless those that are wanted have been by then. */
  #enqueue(entry: HotBase, wanted?: Counters): Promise<void> {
    const turn = entry.turn.then(() => (wanted && !isBehind(entry.index, wanted) ? undefined : this.#apply(entry)));
    entry.turn = turn.catch(() => undefined);
    return turn;
  }

  async #apply(entry: HotBase): Promise<void> {
    const { row, index } = entry;
    if (this.#entries.get(row.no) !== entry) return;
    try {
      const isThere = await this.#follow(row, index);
      if (!isThere) await this.forget(row);
    } catch (error) {
      this.#drop(row.no);
      throw error;
    }
    if (index.isWorn && !this.#loads.has(row.no)) void this.#load(row);
    this.#evict(row.no);
    if (this.#entries.get(row.no) === entry) this.#saves.saveIfGrown(entry);
  }

  /** Brings an index in step; one that takes too much is left to the database for a while. */
  async #follow(row: BaseRow, index: BaseIndex): Promise<boolean> {
    const { database, space, maxBytes } = this.#options;
    const onMisfit = (documentNo: number): void => this.#options.onMisfit(row, documentNo);
    const onWordsAlone = (): void => this.#options.onWordsAlone(row);
    try {
      return await applyChanges(database, row, { index, space, maxBytes, onMisfit, onWordsAlone });
    } catch (error) {
      if (error instanceof TooLargeError) this.#tooLarge.set(row.no, performance.now() + TOO_LARGE_MS);
      throw error;
    }
  }

  #load(row: BaseRow): Promise<BaseIndex | undefined> {
    const load = this.#read(row)
      .catch((error: unknown) => {
        this.#options.onError(error);
        return undefined;
      })
      .finally(() => this.#loads.delete(row.no));
    this.#loads.set(row.no, load);
    return load;
  }

  async #read(row: BaseRow): Promise<BaseIndex | undefined> {
    const { space, snapshots } = this.#options;
    const isReload = this.#entries.has(row.no);
    const found = isReload ? undefined : await snapshots.read(row, space);
    const isUsable = found && found.counter <= row.counter && row.counter - found.counter <= KEPT_COUNTERS;
    if (!isUsable) found?.release();
    const index = isUsable ? found : new BaseIndex();
    const saved = savedOf(index);
    try {
      if (!(await this.#follow(row, index))) return undefined;
    } catch (error) {
      index.release();
      throw error;
    }
    this.#drop(row.no);
    const entry = { row, index, turn: Promise.resolve(), saved, isSaving: false };
    this.#entries.set(row.no, entry);
    this.#evict(row.no);
    if (!this.#entries.has(row.no)) return undefined;
    this.#saves.saveIfGrown(entry);
    return index;
  }

  get #bytes(): number {
    return [...this.#entries.values()].reduce((sum, { index }) => sum + index.bytes, 0);
  }

  #isTooLarge({ no }: BaseKey): boolean {
    return this.#options.maxBytes === 0 || performance.now() < (this.#tooLarge.get(no) ?? 0);
  }

  #drop(no: number): void {
    this.#entries.get(no)?.index.release();
    this.#entries.delete(no);
  }

  /** Lets the least recently used go while there is too much; the newest too, when it alone is too much. */
  #evict(newest: number): void {
    let bytes = this.#bytes;
    for (const [no, { index }] of this.#entries) {
      if (bytes <= this.#options.maxBytes) return;
      if (no === newest && this.#entries.size > 1) continue;
      bytes -= index.bytes;
      this.#drop(no);
      if (no === newest) this.#tooLarge.set(no, performance.now() + TOO_LARGE_MS);
    }
  }
}
