import { errorMessage } from '../../platform/errors/index.ts';
import { createLogger } from '../../platform/telemetry/index.ts';
import { readAllSettings, SettingsError } from '../settings.ts';
import { rotateKey, type Rotation } from './rotate-key.ts';

/** Lines of what could not be sealed anew that are shown. */
const SHOWN = 20;

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function report({ keyId, resealed, failures }: Rotation, isKeyGiven: boolean): void {
  print(`${resealed} rows were sealed anew under the key ${keyId}.`);
  if (failures.length > 0) {
    print(`${failures.length} rows could not be, and the keys before are kept:`);
    for (const failure of failures.slice(0, SHOWN)) print(`  ${failure}`);
    return;
  }
  print(
    isKeyGiven
      ? 'Nothing is sealed under another key. Take the others out of ENCRYPTION_KEY, where there are any.'
      : 'Nothing is sealed under another key, and the key file holds this one alone. Copy it to where you keep it.',
  );
  print('Backups of the database that were made before need the key of their time.');
}

async function main(): Promise<number> {
  try {
    const settings = readAllSettings(process.env);
    const rotation = await rotateKey(settings, createLogger(settings.telemetry));
    report(rotation, settings.crypto.ENCRYPTION_KEY !== undefined);
    return rotation.failures.length === 0 ? 0 : 1;
  } catch (error) {
    const isSetting = error instanceof SettingsError;
    process.stderr.write(isSetting ? `${error.message}\n` : `The key was not rotated: ${errorMessage(error)}\n`);
    return isSetting ? 2 : 1;
  }
}

process.exit(await main());
