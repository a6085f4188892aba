import type { Logger } from 'pino';
import { createOutboxRelay } from '../platform/outbox/index.ts';
import { createQueue, type Queue } from '../platform/queue/index.ts';
import type { Metrics } from '../platform/telemetry/index.ts';
import type { Storage } from './open-storage.ts';

/** Background work of a process: jobs, and events on their way from the outbox to whoever listens. */
export interface Worker {
  queueDepth: Queue['depth'];
  stop: () => Promise<void>;
}

export async function openWorker(storage: Storage, metrics: Metrics, log: Logger): Promise<Worker> {
  const { database, url } = storage;
  const relay = await createOutboxRelay({
    database,
    url,
    listeners: [
      async (_tx, events) => {
        for (const event of events) metrics.events.inc({ type: event.type });
        return Promise.resolve();
      },
    ],
    log,
  });
  const queue = createQueue({ database, tasks: {}, log });
  await queue.start();
  return {
    queueDepth: () => queue.depth(),
    stop: async () => {
      await Promise.all([queue.stop(), relay.stop()]);
    },
  };
}
