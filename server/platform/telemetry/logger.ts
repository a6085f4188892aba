import { pino, type Logger } from 'pino';
import { declareSettings, oneOf, type SettingsOf } from '../config/index.ts';

export const telemetrySettings = declareSettings('Log', {
  LOG_LEVEL: oneOf(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'], {
    default: 'info',
    doc: 'Lowest level that is logged. Lines are JSON on standard output.',
  }),
});

/** The log of the process. Headers that carry keys are never passed to it, and would be starred if they were. */
export function createLogger(settings: SettingsOf<typeof telemetrySettings>): Logger {
  return pino({
    level: settings.LOG_LEVEL,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: ['*.headers["x-api-key"]', '*.headers.authorization'], censor: '***' },
  });
}
