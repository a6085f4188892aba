import { HIDDEN } from '../../../contract/routes/apps.ts';
import type { Installation } from '../../../contract/routes/marketplace.ts';
import { grantsOf } from './grants.ts';
import type { InstallationRow } from './installation.store.ts';

/** Whether every credential that is asked for has been given. */
export function isComplete({ manifest, credentials }: InstallationRow): boolean {
  return manifest.credentials.every((name) => Object.hasOwn(credentials, name));
}

/** An installation as lists show it. */
export function wireListedInstallation(row: InstallationRow): Omit<Installation, 'grants' | 'updated'> {
  const { id, developerId, appKey, manifest, version, credentials, createdAt, updatedAt } = row;
  const shown = manifest.credentials.map((name): [string, string | null] => [
    name,
    Object.hasOwn(credentials, name) ? HIDDEN : null,
  ]);
  return {
    _id: id,
    developerId,
    marketplaceAppId: appKey,
    appId: manifest.app.id,
    name: manifest.app.name,
    version,
    status: isComplete(row) ? 'configured' : 'installed',
    credentials: Object.fromEntries(shown),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** An installation as the API shows it whole. */
export function wireInstallation(row: InstallationRow): Installation {
  return { ...wireListedInstallation(row), grants: grantsOf(row.manifest) };
}
