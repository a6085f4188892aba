import type { Logger } from 'pino';
import { Listener } from './listener.ts';
import { prepared, type Transaction } from './queryable.ts';

const CHANNEL = 'changes';
/** Heartbeat plus the time its answer may take, plus a little: older proof means that changes may be missing. */
const MAX_PROOF_AGE_MS = 900;

/** News of committed changes in any process, a few milliseconds after the commit; never more than a second late. */
export interface ChangeFeed {
  /** Calls back with the key of every change of a topic. */
  on: (topic: string, onChange: (key: string) => void) => void;
  /** False while changes may be missing: what was remembered must not be trusted then. */
  isLive: () => boolean;
  /** Calls back when changes may have been missed: what was remembered must be dropped. */
  onLost: (onLost: () => void) => void;
  close: () => Promise<void>;
}

const notify = prepared('select pg_notify($1, $2)');

/** Announces a change to every process, this one included, when the transaction commits. No white space in topics. */
export async function notifyChange(tx: Transaction, topic: string, key: string): Promise<void> {
  await tx.query(notify([CHANNEL, `${topic}:${key}`]));
}

/** Opens the feed with a connection of its own, which repairs itself. Rejects when the first connection fails. */
export async function createChangeFeed({ url, log }: { url: string; log: Logger }): Promise<ChangeFeed> {
  const topics = new Map<string, ((key: string) => void)[]>();
  const lostCallbacks: (() => void)[] = [];
  const announceLoss = (): void => {
    for (const callback of lostCallbacks) callback();
  };
  const listener = new Listener({
    url,
    channel: CHANNEL,
    log,
    onNotification: (payload) => {
      const colon = payload.indexOf(':');
      for (const callback of topics.get(payload.slice(0, colon)) ?? []) callback(payload.slice(colon + 1));
    },
    onUp: announceLoss,
    onDown: announceLoss,
  });
  await listener.open();
  return {
    on: (topic, onChange) => {
      topics.set(topic, [...(topics.get(topic) ?? []), onChange]);
    },
    isLive: () => performance.now() - listener.provenAtMs < MAX_PROOF_AGE_MS,
    onLost: (callback) => {
      lostCallbacks.push(callback);
    },
    close: () => listener.close(),
  };
}
