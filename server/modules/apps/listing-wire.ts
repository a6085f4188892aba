import type { previewMarketplaceApp, ListedApp } from '../../../contract/routes/marketplace.ts';
import type { RouteOutput } from '../../../contract/shared/route.ts';
import { grantsOf } from './grants.ts';
import type { ListingRow } from './listing.store.ts';
import type { Manifest } from './manifest.ts';

type Listed = Omit<ListingRow, 'manifest'> & { manifest: Pick<Manifest, 'app'> };

/** A published app as lists show it. */
export function wireListing({ id, appId, developerId, version, publishedAt, manifest: { app } }: Listed): ListedApp {
  const { name, nameZh, domain, subsystem } = app;
  return {
    _id: id,
    appId,
    developerId,
    name,
    ...(nameZh === undefined ? {} : { nameZh }),
    ...(domain === undefined ? {} : { domain }),
    ...(subsystem === undefined ? {} : { subsystem }),
    version,
    publishedAt: publishedAt.toISOString(),
  };
}

/** A published app with what an installation grants. */
export function wirePreview(row: ListingRow): RouteOutput<typeof previewMarketplaceApp> {
  const { manifest } = row;
  const widgets = manifest.dashboard?.widgets ?? [];
  return {
    ...wireListing(row),
    grants: grantsOf(manifest),
    widgets: widgets.map(({ type, title }) => ({ type, title })),
    toolPacks: manifest.packs.map(({ packId }) => packId),
  };
}
