import type { Transaction } from '../../platform/db/index.ts';
import type { UsageCount } from './usage.store.ts';

/** Shares of the daily requests, in percent, that are told of when a key reaches them. */
const TOLD_SHARES = [80, 100];

/** A key has used a share of what it may use on a UTC day. */
export interface DailyUse {
  developerId: string;
  keyId: string;
  /** YYYY-MM-DD. */
  day: string;
  /** Requests. */
  used: number;
  cap: number;
  /** The share that was reached. */
  percent: number;
}

/** Told in the transaction that counts the requests. It may be told twice: when an interrupted commit is repeated. */
export type OnDailyUse = (tx: Transaction, uses: readonly DailyUse[]) => Promise<void>;

/** The shares that a key reached with the requests `added` last. */
export function sharesReached(total: UsageCount, { added, cap }: { added: number; cap: number }): DailyUse[] {
  const { developerId, keyId, day, requests: used } = total;
  const reached = TOLD_SHARES.filter((percent) => {
    const share = cap * percent;
    return (used - added) * 100 < share && used * 100 >= share;
  });
  return reached.map((percent) => ({ developerId, keyId, day, used, cap, percent }));
}
