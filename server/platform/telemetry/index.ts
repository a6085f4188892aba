// Metrics in the Prometheus form, and the process's log.
// Used by app, which wires the measured parts to it.
// Must not know what a module does; it is handed numbers.
export { createMetrics, type Metrics } from './metrics.ts';
export { createLogger, telemetrySettings } from './logger.ts';
