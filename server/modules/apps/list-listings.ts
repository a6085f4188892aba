import type { listMarketplaceApps as contract } from '../../../contract/routes/marketplace.ts';
import type { RouteInput, RouteOutput } from '../../../contract/shared/route.ts';
import type { Queryable } from '../../platform/db/index.ts';
import { wireListing } from './listing-wire.ts';
import { countListings, listingsBefore } from './listing.store.ts';

const DEFAULT_LIMIT = 50;

/** A page of the marketplace, newest apps first; the cursor is the id of the last one. */
export async function listListings(
  db: Queryable,
  { q, domain, limit = DEFAULT_LIMIT, cursor }: RouteInput<typeof contract>['query'],
): Promise<RouteOutput<typeof contract>> {
  const query = { text: q === undefined || q === '' ? null : q, domain: domain ?? null };
  // One more than is shown tells whether there are more.
  const rows = await listingsBefore(db, query, { before: cursor, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = shown.length < rows.length ? shown.at(-1) : undefined;
  return {
    apps: shown.map(wireListing),
    total: await countListings(db, query),
    ...(last ? { nextCursor: last.id } : {}),
  };
}
