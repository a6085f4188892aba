import type { AppDefinition } from '../../../contract/routes/apps.ts';
import type { Transaction } from '../../platform/db/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { announce, type AppParts } from './app-parts.ts';
import { insertApp, lockApp, saveApp, type AppRow } from './app.store.ts';
import { demandUsableDefinition } from './check-definition.ts';
import { demandRoomForApps } from './demand-room.ts';
import { noSuchApp } from './no-such-app.ts';
import { sealDefinition } from './seal-definition.ts';

async function insertNew(
  { vault }: AppParts,
  tx: Transaction,
  { developerId, definition }: { developerId: string; definition: AppDefinition },
): Promise<AppRow | undefined> {
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
  return parts.database.transaction(async (tx) => {
    await announce(tx, developerId);
    const written = await write(parts, tx, { developerId, definition });
    await demandRoomForApps(tx, developerId);
    return written;
  });
}

async function write(
  parts: AppParts,
  tx: Transaction,
  { developerId, definition }: { developerId: string; definition: AppDefinition },
): Promise<{ row: AppRow; isNew: boolean }> {
  const appId = definition.app.id;
  const existing = await lockApp(tx, developerId, appId);
  const inserted = existing ? undefined : await insertNew(parts, tx, { developerId, definition });
  if (inserted) return { row: inserted, isNew: true };
  // When there was none before and none was inserted, another request has just created it.
  const row = existing ?? (await lockApp(tx, developerId, appId));
  if (!row) throw noSuchApp(appId);
  const sealed = sealDefinition(await parts.vault.sealer(tx), row, { definition, before: row.secrets });
  return { row: await saveApp(tx, { ...row, ...sealed }), isNew: false };
}
