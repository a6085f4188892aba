import { savedOf, type HotBase } from './hot-base.ts';
import type { SnapshotFolder } from './snapshot-folder.ts';

/** A base that has grown by so much is written to its file again. */
const GROWN_SHARE = 0.25;
const GROWN_CHUNKS = 500;

interface SnapshotSavesOptions {
  snapshots: SnapshotFolder;
  /** Told of a file that could not be written; the one before stays. */
  onError: (error: unknown) => void;
}

/** Writes bases in memory to their files, while they are asked and changed. */
export class SnapshotSaves {
  readonly #options: SnapshotSavesOptions;
  readonly #running = new Set<Promise<void>>();

  constructor(options: SnapshotSavesOptions) {
    this.#options = options;
  }

  saveIfGrown(base: HotBase): void {
    const { index, saved, isSaving } = base;
    const growth = (index.vectors?.count ?? 0) - saved.vectorCount + index.chunkCount - saved.chunkCount;
    if (!isSaving && growth > GROWN_SHARE * saved.chunkCount + GROWN_CHUNKS) this.save(base);
  }

  /** Writes the base as it is after what is being done to it. */
  save(base: HotBase): void {
    base.isSaving = true;
    const start = base.turn.then(async () => {
      await base.index.words.merge();
      // Not awaited here: what is written does not change, and others may go on.
      return { written: this.#write(base) };
    });
    base.turn = start.catch(() => undefined);
    const save = start.then(({ written }) => written).catch(this.#options.onError);
    this.#running.add(save);
    void save.finally(() => this.#running.delete(save));
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #write(base: HotBase): Promise<void> {
    const saved = savedOf(base.index);
    try {
      await this.#options.snapshots.save(base.row, base.index);
    } finally {
      base.saved = saved;
      base.isSaving = false;
    }
  }
}
