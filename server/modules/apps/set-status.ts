import type { AppStatus } from '../../../contract/routes/apps.ts';
import type { Transaction } from '../../platform/db/index.ts';
import { announce, type AppParts } from './app-parts.ts';
import { lockApp, saveApp, type AppRow } from './app.store.ts';
import { noSuchApp } from './no-such-app.ts';
import { publishVersion } from './publish-version.ts';

/** Saves the locked row: published with a new version, or as a draft. */
export async function saveWithStatus(
  parts: AppParts,
  tx: Transaction,
  { row, status }: { row: AppRow; status: AppStatus },
): Promise<AppRow> {
  if (status === 'draft') return saveApp(tx, { ...row, status });
  const saved = await saveApp(tx, { ...row, status, version: row.version + 1 });
  await publishVersion(parts, tx, saved);
  return saved;
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
    await saveWithStatus(parts, tx, { row, status });
    await announce(tx, app.developerId);
  });
}
