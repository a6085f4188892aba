import type { Logger } from 'pino';
import { createAlertListener, createFanOut, pruningTask, startCourier } from '../modules/events/index.ts';
import { createOutboxRelay, type EventListener } from '../platform/outbox/index.ts';
import { createQueue, type Queue } from '../platform/queue/index.ts';
import type { Metrics } from '../platform/telemetry/index.ts';
import type { Modules } from './open-modules.ts';
import type { Storage } from './open-storage.ts';
import type { AllSettings } from './settings.ts';

/** Background work of a process: jobs, and events on their way from the outbox to whoever listens. */
export interface Worker {
  queueDepth: Queue['depth'];
  stop: () => Promise<void>;
}

interface Parts {
  settings: AllSettings;
  storage: Storage;
  modules: Modules;
  metrics: Metrics;
  log: Logger;
}

function countEvents(metrics: Metrics): EventListener {
  return (_tx, events) =>
    Promise.resolve(() => {
      for (const event of events) metrics.events.inc({ type: event.type });
    });
}

export async function openWorker({ settings, storage, modules, metrics, log }: Parts): Promise<Worker> {
  const { database, url } = storage;
  const courier = await startCourier({
    database,
    url,
    send: modules.events.attempt,
    log,
    onAttempt: ({ error }) => metrics.webhookAttempts.inc({ outcome: error === null ? 'delivered' : 'failed' }),
  });
  const workflows = await modules.workflows.startWork();
  const listeners = [countEvents(metrics), workflows.listener, createFanOut(courier), createAlertListener()];
  const relay = await createOutboxRelay({ database, url, listeners, log });
  const pruning = pruningTask({ database, settings: settings.events, log });
  const { jobs } = modules.workflows;
  modules.knowledge.startWork();
  const queue = createQueue({
    database,
    tasks: { ...pruning.tasks, ...jobs.tasks },
    cron: [...pruning.cron, ...jobs.cron],
    log,
  });
  await queue.start();
  return {
    queueDepth: () => queue.depth(),
    stop: async () => {
      // The relay first: what it hands over last is still taken on.
      await Promise.all([queue.stop(), relay.stop()]);
      await Promise.all([courier.stop(), workflows.stop()]);
    },
  };
}
