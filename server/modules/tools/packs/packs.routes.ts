import * as contract from '../../../../contract/routes/tool-packs.ts';
import type { Database } from '../../../platform/db/index.ts';
import { AppError } from '../../../platform/errors/index.ts';
import { implement, type Route } from '../../../platform/http/index.ts';
import { createPack } from './create-pack.ts';
import { listPacks } from './list-packs.ts';
import { wirePack } from './pack-wire.ts';
import { changePack, packsByIds, removePack } from './pack.store.ts';

/** The refusal for an id that is absent or somebody else's: both look the same. */
function noSuchPack(packId: string): AppError {
  return new AppError('NOT_FOUND', `There is no tool pack "${packId}".`);
}

export function packRoutes(database: Database): Route[] {
  return [
    implement(contract.createToolPack, async ({ caller }, { body }) =>
      wirePack(await createPack(database, caller.developerId, body)),
    ),
    implement(contract.listToolPacks, ({ caller }, { query }) => listPacks(database, caller.developerId, query)),
    implement(contract.getToolPack, async ({ caller }, { params: { id } }) => {
      const [row] = await packsByIds(database, caller.developerId, [id]);
      if (!row) throw noSuchPack(id);
      return wirePack(row);
    }),
    implement(contract.updateToolPack, async ({ caller: { developerId } }, { params: { id }, body }) => {
      const row = await changePack(database, { developerId, packId: id }, body);
      if (!row) throw noSuchPack(id);
      return wirePack(row);
    }),
    implement(contract.deleteToolPack, async ({ caller: { developerId } }, { params: { id } }) => {
      if (!(await removePack(database, { developerId, packId: id }))) throw noSuchPack(id);
      return { success: true as const };
    }),
    implement(contract.publishToolPack, async ({ caller: { developerId } }, { params: { id } }) => {
      const row = await changePack(database, { developerId, packId: id }, { status: 'published' });
      if (!row) throw noSuchPack(id);
      return { success: true as const, status: 'published' as const };
    }),
  ];
}
