import type { AppDefinition } from '../../../contract/routes/apps.ts';
import type { Transaction } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { announce, type AppParts } from './app-parts.ts';
import { countApps, insertApp, lockApp, saveApp, type AppRow } from './app.store.ts';
import { demandUsableDefinition } from './check-definition.ts';
import { noSuchApp } from './no-such-app.ts';
import { sealDefinition } from './seal-definition.ts';

/** All apps of a developer are held in memory together. */
const MAX_APPS = 1000;

async function insertNew(
  { vault }: AppParts,
  tx: Transaction,
  { developerId, definition }: { developerId: string; definition: AppDefinition },
): Promise<AppRow | undefined> {
  if ((await countApps(tx, developerId)) >= MAX_APPS) {
    throw new AppError('CONFLICT', `There are ${MAX_APPS} apps already; delete one first.`);
  }
  const id = createId('app');
  const sealed = sealDefinition(await vault.sealer(tx), { developerId, id }, { definition, before: {} });
  return insertApp(tx, { developerId, appId: definition.app.id, id, ...sealed });
}

/** Creates an app as a draft; of one that exists the definition is replaced and the status stays. */
export async function createApp(
  parts: AppParts,
  developerId: string,
  definition: AppDefinition,
): Promise<{ row: AppRow; isNew: boolean }> {
  demandUsableDefinition(definition);
  const appId = definition.app.id;
  return parts.database.transaction(async (tx) => {
    await announce(tx, developerId);
    const existing = await lockApp(tx, developerId, appId);
    const inserted = existing ? undefined : await insertNew(parts, tx, { developerId, definition });
    if (inserted) return { row: inserted, isNew: true };
    // When there was none before and none was inserted, another request has just created it.
    const row = existing ?? (await lockApp(tx, developerId, appId));
    if (!row) throw noSuchApp(appId);
    const sealed = sealDefinition(await parts.vault.sealer(tx), row, { definition, before: row.secrets });
    return { row: await saveApp(tx, { ...row, ...sealed }), isNew: false };
  });
}
