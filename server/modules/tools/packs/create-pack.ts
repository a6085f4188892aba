import type { createToolPack as contract } from '../../../../contract/routes/tool-packs.ts';
import type { RouteInput } from '../../../../contract/shared/route.ts';
import type { Database } from '../../../platform/db/index.ts';
import { AppError } from '../../../platform/errors/index.ts';
import { createId } from '../../../platform/ids/index.ts';
import { insertPack, type PackRow } from './pack.store.ts';

/** Clients take dots out of paths. */
const UNREACHABLE_IDS = new Set(['.', '..']);

/** Creates a pack. Throws CONFLICT when the id is taken. */
export async function createPack(
  database: Database,
  developerId: string,
  body: RouteInput<typeof contract>['body'],
): Promise<PackRow> {
  const { id: packId, name, nameZh = '', description = '', tools = [], knowledge = '' } = body;
  if (packId.trim() === '' || UNREACHABLE_IDS.has(packId)) {
    throw new AppError('INVALID_REQUEST', 'id must not be blank, and not "." or "..".');
  }
  const pack = { id: createId('pack'), developerId, packId, name, nameZh, description, tools, knowledge };
  const row = await insertPack(database, pack);
  if (!row) throw new AppError('CONFLICT', `There is a tool pack "${packId}" already; PUT changes it.`);
  return row;
}
