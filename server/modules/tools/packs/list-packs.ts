import type { listToolPacks as contract } from '../../../../contract/routes/tool-packs.ts';
import type { RouteInput, RouteOutput } from '../../../../contract/shared/route.ts';
import type { Queryable } from '../../../platform/db/index.ts';
import { wireListedPack } from './pack-wire.ts';
import { packsAfter } from './pack.store.ts';

/** A page of packs in order of id; the cursor is the id of the last one, wrapped so that nobody builds on it. */
export async function listPacks(
  db: Queryable,
  developerId: string,
  { limit, cursor }: RouteInput<typeof contract>['query'],
): Promise<RouteOutput<typeof contract>> {
  const after = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString();
  // One more than is shown tells whether there are more.
  const rows = await packsAfter(db, developerId, { after, limit: limit === undefined ? undefined : limit + 1 });
  const shown = rows.slice(0, limit);
  const last = shown.length < rows.length ? shown.at(-1) : undefined;
  return {
    packs: shown.map(wireListedPack),
    ...(last ? { nextCursor: Buffer.from(last.packId).toString('base64url') } : {}),
  };
}
