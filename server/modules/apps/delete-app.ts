import { announce, type AppParts } from './app-parts.ts';
import { lockApp, removeApp } from './app.store.ts';
import { noSuchApp } from './no-such-app.ts';
import { removeUnusedVersions } from './version.store.ts';

export async function deleteApp({ database }: AppParts, developerId: string, appId: string): Promise<void> {
  await database.transaction(async (tx) => {
    const row = await lockApp(tx, developerId, appId);
    if (!row) throw noSuchApp(appId);
    await removeApp(tx, developerId, appId);
    await removeUnusedVersions(tx, developerId, row.id);
    await announce(tx, developerId);
  });
}
