import { errorMessage } from '../platform/errors/index.ts';
import { createLogger } from '../platform/telemetry/index.ts';
import { readAllSettings, SettingsError, type AllSettings } from './settings.ts';
import { startService, type Service } from './start-service.ts';
import { welcome } from './welcome.ts';

function settingsOrExit(): AllSettings {
  try {
    return readAllSettings(process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(2);
  }
}

/** Ends the process on SIGTERM or SIGINT after a clean stop; a second signal ends it at once. */
function stopOnSignals(service: Promise<Service>): void {
  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) process.exit(130);
    isStopping = true;
    const running = await service.catch(() => undefined);
    await running?.stop();
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
}

async function main(): Promise<void> {
  const settings = settingsOrExit();
  const log = createLogger(settings.telemetry);
  const starting = startService(settings, log);
  stopOnSignals(starting);
  try {
    const { url, generatedKey, version } = await starting;
    process.stdout.write(`${welcome({ url, generatedKey, version })}\n`);
  } catch (error) {
    log.debug({ err: error }, 'start failed');
    process.stderr.write(`Tessera cannot start: ${errorMessage(error)}\n`);
    process.exit(1);
  }
}

await main();
