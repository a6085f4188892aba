import type { AppStatus } from '../../../contract/routes/apps.ts';
import { announce, type AppParts } from './app-parts.ts';
import { lockApp, saveApp, type AppRow } from './app.store.ts';
import { noSuchApp } from './no-such-app.ts';

/** The locked row as it has to be saved: published with a new version, or a draft. */
export function withStatus(row: AppRow, status: AppStatus): AppRow {
  return status === 'draft' ? { ...row, status } : { ...row, status, version: row.version + 1 };
}

/** Publishes an app, or takes it down. */
export async function setStatus(
  parts: AppParts,
  app: { developerId: string; appId: string },
  status: AppStatus,
): Promise<void> {
  await parts.database.transaction(async (tx) => {
    const row = await lockApp(tx, app.developerId, app.appId);
    if (!row) throw noSuchApp(app.appId);
    await saveApp(tx, withStatus(row, status));
    await announce(tx, app.developerId);
  });
}
