import type { HttpServer } from '../platform/http/index.ts';
import type { Metrics } from '../platform/telemetry/index.ts';

export interface Health {
  /** Whether requests can be served now: migrated, not stopping, and the database answers. */
  isReady: () => Promise<boolean>;
  metrics: Metrics;
  /** Brings the gauges up to date. */
  refresh: () => Promise<void>;
}

/** Pages for whoever runs the service. They need no key and are not counted. */
export function addHealthRoutes(app: HttpServer, { isReady, metrics, refresh }: Health): void {
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const ready = await isReady();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'unavailable' });
  });
  app.get('/metrics', async (_request, reply) => {
    await refresh();
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}
