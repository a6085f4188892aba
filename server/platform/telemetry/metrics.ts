import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { RequestLatency } from './request-latency.ts';

/** Seconds; from a cached read to a slow model. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Numbers that are read when the page is asked for. */
export interface MeasuredParts {
  pool: () => { total: number; idle: number; waiting: number };
  modelCalls: () => { inFlight: number; waiting: number };
  queueDepth: () => Promise<number>;
}

function gauge(registry: Registry, name: string, help: string) {
  return new Gauge({ name, help, registers: [registry] });
}

function watchParts(registry: Registry, parts: MeasuredParts): () => Promise<void> {
  const poolTotal = gauge(registry, 'tessera_db_connections', 'Open connections to PostgreSQL.');
  const poolIdle = gauge(registry, 'tessera_db_connections_idle', 'Connections that no query uses now.');
  const poolWaiting = gauge(registry, 'tessera_db_waiting', 'Queries that wait for a connection.');
  const inFlight = gauge(registry, 'tessera_model_calls_in_flight', 'Model calls under way.');
  const waiting = gauge(registry, 'tessera_model_calls_waiting', 'Model calls that wait for a free place.');
  const depth = gauge(registry, 'tessera_queue_depth', 'Jobs that are due and not yet taken.');
  return async () => {
    const pool = parts.pool();
    poolTotal.set(pool.total);
    poolIdle.set(pool.idle);
    poolWaiting.set(pool.waiting);
    const calls = parts.modelCalls();
    inFlight.set(calls.inFlight);
    waiting.set(calls.waiting);
    // A database that is away must not take the rest of the page with it.
    depth.set(await parts.queueDepth().catch(() => Number.NaN));
  };
}

/**
 * Everything /metrics shows. Names follow Prometheus's conventions: base units, `_total` for counters. Labels take values
 * from fixed sets: callers choose names of models, so they are not among them.
 */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new RequestLatency(registry, LATENCY_BUCKETS);
  const modelCalls = new Histogram({
    name: 'tessera_model_call_duration_seconds',
    help: 'Calls of model vendors by vendor and outcome.',
    labelNames: ['vendor', 'outcome'] as const,
    buckets: LATENCY_BUCKETS,
    registers: [registry],
  });
  const tokens = new Counter({
    name: 'tessera_model_tokens_total',
    help: 'Tokens by vendor and direction (input, output).',
    labelNames: ['vendor', 'direction'] as const,
    registers: [registry],
  });
  const events = new Counter({
    name: 'tessera_events_total',
    help: 'Events handed over from the outbox, by type.',
    labelNames: ['type'] as const,
    registers: [registry],
  });
  const webhookAttempts = new Counter({
    name: 'tessera_webhook_attempts_total',
    help: 'Attempts to deliver webhooks, by outcome (delivered, failed).',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  return {
    registry,
    requests,
    modelCalls,
    tokens,
    events,
    webhookAttempts,
    watch: (parts: MeasuredParts) => watchParts(registry, parts),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
