import { once } from 'node:events';
import type { Logger } from 'pino';
import { errorMessage } from '../platform/errors/index.ts';
import { createLogger } from '../platform/telemetry/index.ts';
import { readAllSettings, SettingsError, type AllSettings } from './settings.ts';
import { startService } from './start-service.ts';
import { newKeyNotice, welcome } from './welcome.ts';

/**
 * Ctrl-C below npm arrives twice, from the terminal and from npm, a few milliseconds apart. A person who insists
 * takes longer.
 */
const SAME_SIGNAL_MS = 300;

function settingsOrExit(): AllSettings {
  try {
    return readAllSettings(process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(2);
  }
}

/** Aborted by the first SIGTERM or SIGINT; the second ends the process at once. */
function watchSignals(): AbortSignal {
  const stopping = new AbortController();
  let firstAtMs: number | undefined;
  const onSignal = (): void => {
    firstAtMs ??= performance.now();
    if (!stopping.signal.aborted) stopping.abort();
    else if (performance.now() - firstAtMs > SAME_SIGNAL_MS) process.exit(130);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return stopping.signal;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Starts, serves until a signal asks for the end, and stops. */
async function serve(settings: AllSettings, log: Logger, stopping: AbortSignal): Promise<void> {
  let generatedKey: string | undefined;
  const service = await startService(settings, log, {
    signal: stopping,
    onGeneratedKey: (key) => {
      generatedKey = key;
      print(newKeyNotice(key));
    },
  });
  print(welcome({ url: service.url, version: service.version, generatedKey }));
  if (!stopping.aborted) await once(stopping, 'abort');
  await service.stop();
}

async function main(): Promise<void> {
  const settings = settingsOrExit();
  const log = createLogger(settings.telemetry);
  const stopping = watchSignals();
  try {
    await serve(settings, log, stopping);
  } catch (error) {
    // A start that was given up because it was asked to is no failure.
    if (error !== stopping.reason) {
      log.debug({ err: error }, 'the service failed');
      process.stderr.write(`Tessera cannot ${stopping.aborted ? 'stop cleanly' : 'start'}: ${errorMessage(error)}\n`);
      process.exit(1);
    }
  }
  process.exit(0);
}

await main();
