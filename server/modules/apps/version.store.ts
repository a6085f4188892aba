import type { Transaction } from '../../platform/db/index.ts';
import type { Manifest } from './manifest.ts';
import type { Sealed } from './seal-definition.ts';

export interface VersionRow {
  /** The publisher. */
  developerId: string;
  /** apps.id */
  appKey: string;
  version: number;
  manifest: Manifest;
  /** Header templates of the service, sealed. */
  secrets: Sealed;
}

export async function insertVersion(tx: Transaction, row: VersionRow): Promise<void> {
  await tx.query({
    text: 'insert into app_versions (developer_id, app_key, version, manifest, secrets) values ($1, $2, $3, $4, $5)',
    values: [row.developerId, row.appKey, row.version, JSON.stringify(row.manifest), JSON.stringify(row.secrets)],
  });
}

/**
 * Removes the versions of an app that nobody has installed, but for the latest while there is the app. Whoever installs
 * holds the row of the app, and pins the latest: no version goes away below an installation that is just being made.
 */
export async function removeUnusedVersions(tx: Transaction, developerId: string, appKey: string): Promise<void> {
  await tx.query({
    text: `delete from app_versions v where developer_id = $1 and app_key = $2
      and not exists (select from apps a where a.developer_id = $1 and a.id = $2 and a.version = v.version)
      and not exists (select from app_installations i
        where i.publisher_id = $1 and i.app_key = $2 and i.version = v.version)`,
    values: [developerId, appKey],
  });
}
