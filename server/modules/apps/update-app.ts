import type { AppDefinition, updateApp as contract } from '../../../contract/routes/apps.ts';
import type { RouteInput } from '../../../contract/shared/route.ts';
import { AppError } from '../../platform/errors/index.ts';
import { announce, type AppParts } from './app-parts.ts';
import { lockApp, saveApp, type AppRow } from './app.store.ts';
import { demandUsableDefinition } from './check-definition.ts';
import { demandRoomForApps } from './demand-room.ts';
import { noSuchApp } from './no-such-app.ts';
import { sealDefinition } from './seal-definition.ts';
import { saveWithStatus } from './set-status.ts';

type Change = RouteInput<typeof contract>['body'];

function changed(row: AppRow, { status: _status, app = {}, ...parts }: Change): AppDefinition {
  if (app.id !== undefined && app.id !== row.appId) {
    throw new AppError('INVALID_REQUEST', `app.id must stay "${row.appId}"; create another app instead.`);
  }
  return { ...row.definition, ...parts, app: { ...row.definition.app, ...app } };
}

/** Changes what is given and leaves the rest. */
export async function updateApp(
  parts: AppParts,
  app: { developerId: string; appId: string },
  change: Change,
): Promise<AppRow> {
  return parts.database.transaction(async (tx) => {
    const row = await lockApp(tx, app.developerId, app.appId);
    if (!row) throw noSuchApp(app.appId);
    const definition = changed(row, change);
    demandUsableDefinition(definition);
    const sealed = sealDefinition(await parts.vault.sealer(tx), row, { definition, before: row.secrets });
    const next = { ...row, ...sealed };
    await announce(tx, app.developerId);
    const { status } = change;
    const saved =
      status === undefined ? await saveApp(tx, next) : await saveWithStatus(parts, tx, { row: next, status });
    await demandRoomForApps(tx, app.developerId);
    return saved;
  });
}
