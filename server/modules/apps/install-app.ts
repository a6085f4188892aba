import type { EventType } from '../../../contract/events/index.ts';
import type { Transaction } from '../../platform/db/index.ts';
import { createId, isId } from '../../platform/ids/index.ts';
import { publishEvents } from '../../platform/outbox/index.ts';
import { announce, type AppParts } from './app-parts.ts';
import {
  holdInstallations,
  insertInstallation,
  lockInstallation,
  lockInstallationOf,
  saveInstallation,
  type InstallationRow,
} from './installation.store.ts';
import { demandRoomForInstallations } from './demand-room.ts';
import { holdListing } from './listing.store.ts';
import { noSuchInstallation, noSuchListing } from './no-such-installation.ts';
import { removeUnusedVersions } from './version.store.ts';

/** Tells both sides; one developer who is both hears it once. */
export async function tellBoth(tx: Transaction, row: InstallationRow, type: EventType): Promise<void> {
  const { id: appId, name: appName } = row.manifest.app;
  const sides = new Set([row.developerId, row.publisherId]);
  await publishEvents(
    tx,
    Array.from(sides, (developerId) => ({ developerId, type, data: { appId, appName } })),
  );
}

/** The row as it is after a write in the transaction. */
export async function readBack(tx: Transaction, developerId: string, id: string): Promise<InstallationRow> {
  const row = await lockInstallation(tx, developerId, id);
  if (!row) throw noSuchInstallation(id);
  return row;
}

type Pinned = Pick<InstallationRow, 'publisherId' | 'appKey' | 'version' | 'manifest'>;

/** Moves an installation to the latest version; credentials that are asked for no more are dropped. */
async function moveTo(tx: Transaction, row: InstallationRow, latest: Pinned): Promise<InstallationRow> {
  if (row.version === latest.version) return row;
  const kept = Object.entries(row.credentials).filter(([name]) => latest.manifest.credentials.includes(name));
  await saveInstallation(tx, { ...row, version: latest.version, credentials: Object.fromEntries(kept) });
  await removeUnusedVersions(tx, row.publisherId, row.appKey);
  const moved = await readBack(tx, row.developerId, row.id);
  await tellBoth(tx, moved, 'app.installed');
  return moved;
}

async function insertNew(tx: Transaction, developerId: string, latest: Pinned): Promise<InstallationRow> {
  const id = createId('inst');
  await insertInstallation(tx, { developerId, id, ...latest });
  const row = await readBack(tx, developerId, id);
  await tellBoth(tx, row, 'app.installed');
  return row;
}

/** Installs a published app, pinned to its latest version, or moves an installation to that. */
export async function installApp(
  { database }: AppParts,
  developerId: string,
  listingId: string,
): Promise<{ row: InstallationRow; isNew: boolean }> {
  if (!isId('app', listingId)) throw noSuchListing(listingId);
  return database.transaction(async (tx) => {
    const listing = await holdListing(tx, listingId);
    if (!listing) throw noSuchListing(listingId);
    const { developerId: publisherId, id: appKey, version, manifest } = listing;
    const latest = { publisherId, appKey, version, manifest };
    await holdInstallations(tx, developerId);
    const existing = await lockInstallationOf(tx, developerId, appKey);
    await announce(tx, developerId);
    const row = existing ? await moveTo(tx, existing, latest) : await insertNew(tx, developerId, latest);
    await demandRoomForInstallations(tx, developerId);
    return { row, isNew: !existing };
  });
}
