import type { BaseRow } from '../store/base.store.ts';
import type { BaseIndex } from './base-index.ts';

export type Counters = Pick<BaseRow, 'counter' | 'vectorCounter'>;

/** How far a file goes. */
interface Saved extends Counters {
  chunkCount: number;
  vectorCount: number;
}

/** A base in memory. */
export interface HotBase {
  row: BaseRow;
  index: BaseIndex;
  /** The end of what is done to it: its changes are taken in one after the other. */
  turn: Promise<unknown>;
  /** What the file of it holds. */
  saved: Saved;
  isSaving: boolean;
}

export function savedOf({ counter, vectorCounter, chunkCount, vectors }: BaseIndex): Saved {
  return { counter, vectorCounter, chunkCount, vectorCount: vectors?.count ?? 0 };
}

/** Whether something lacks what others count. */
export function isBehind(one: Counters, { counter, vectorCounter }: Counters): boolean {
  return one.counter < counter || one.vectorCounter < vectorCounter;
}
