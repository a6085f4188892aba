import type { Transaction } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { measureApps } from './app.store.ts';
import { measureInstallations } from './installation.store.ts';

/** All apps and installations of a developer are held in memory together. */
const MAX_APPS = 1000;
const MAX_INSTALLATIONS = 500;
const MAX_BYTES = 32 * 1024 * 1024;
const SHOWN_MAX = `${MAX_BYTES / 1024 / 1024} MB`;

/** Refuses a write, when it has been made, with which a developer has too many apps, or too large ones. */
export async function demandRoomForApps(tx: Transaction, developerId: string): Promise<void> {
  const { count, bytes } = await measureApps(tx, developerId);
  if (count > MAX_APPS) throw new AppError('CONFLICT', `There are ${MAX_APPS} apps already; delete one first.`);
  if (bytes > MAX_BYTES) {
    throw new AppError('CONFLICT', `The apps would be larger than ${SHOWN_MAX} together; delete one first.`);
  }
}

/** The same for what is installed. */
export async function demandRoomForInstallations(tx: Transaction, developerId: string): Promise<void> {
  const { count, bytes } = await measureInstallations(tx, developerId);
  if (count > MAX_INSTALLATIONS) {
    throw new AppError('CONFLICT', `There are ${MAX_INSTALLATIONS} installed apps already; uninstall one first.`);
  }
  if (bytes > MAX_BYTES) {
    throw new AppError(
      'CONFLICT',
      `The installed apps would be larger than ${SHOWN_MAX} together; uninstall one first.`,
    );
  }
}
