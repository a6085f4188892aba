import { announce, type AppParts } from './app-parts.ts';
import { lockInstallation, removeInstallation } from './installation.store.ts';
import { demandInstallationId, noSuchInstallation } from './no-such-installation.ts';
import { removeUnusedVersions } from './version.store.ts';

/** Removes an installation with its credentials. */
export async function uninstallApp({ database }: AppParts, developerId: string, id: string): Promise<void> {
  demandInstallationId(id);
  await database.transaction(async (tx) => {
    const row = await lockInstallation(tx, developerId, id);
    if (!row) throw noSuchInstallation(id);
    await removeInstallation(tx, developerId, id);
    await removeUnusedVersions(tx, row.publisherId, row.appKey);
    await announce(tx, developerId);
  });
}
