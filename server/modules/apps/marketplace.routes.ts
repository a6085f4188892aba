import * as contract from '../../../contract/routes/marketplace.ts';
import { implement, type Route } from '../../platform/http/index.ts';
import { isId } from '../../platform/ids/index.ts';
import type { Apps } from './apps.ts';
import { configureInstallation } from './configure-installation.ts';
import { installApp } from './install-app.ts';
import { wireInstallation, wireListedInstallation } from './installation-wire.ts';
import { listListings } from './list-listings.ts';
import { wirePreview } from './listing-wire.ts';
import { findListing } from './listing.store.ts';
import { noSuchInstallation, noSuchListing } from './no-such-installation.ts';
import { uninstallApp } from './uninstall-app.ts';

export function marketplaceRoutes(apps: Apps): Route[] {
  const { database } = apps;
  return [
    implement(contract.listMarketplaceApps, (_ctx, { query }) => listListings(database, query)),
    implement(contract.previewMarketplaceApp, async (_ctx, { params: { id } }) => {
      const listing = isId('app', id) ? await findListing(database, id) : undefined;
      if (!listing) throw noSuchListing(id);
      return wirePreview(listing);
    }),
    implement(contract.installApp, async ({ caller: { developerId } }, { params }) => {
      const { row, isNew } = await installApp(apps, developerId, params.id);
      apps.forget(developerId);
      return isNew ? wireInstallation(row) : { ...wireInstallation(row), updated: true as const };
    }),
    implement(contract.listInstallations, async ({ caller }) => {
      const { installations } = await apps.shelfOf(caller.developerId);
      const shown = Array.from(installations.values(), ({ row }) => wireListedInstallation(row));
      return { installations: shown, total: shown.length };
    }),
    implement(contract.getInstallation, async ({ caller }, { params: { id } }) => {
      const entry = (await apps.shelfOf(caller.developerId)).installations.get(id);
      if (!entry) throw noSuchInstallation(id);
      return wireInstallation(entry.row);
    }),
    implement(contract.configureInstallation, async ({ caller: { developerId } }, { params: { id }, body }) => {
      const row = await configureInstallation(apps, { developerId, id }, body.credentials);
      apps.forget(developerId);
      return wireInstallation(row);
    }),
    implement(contract.uninstallApp, async ({ caller: { developerId } }, { params: { id } }) => {
      await uninstallApp(apps, developerId, id);
      apps.forget(developerId);
      return { success: true as const };
    }),
  ];
}
