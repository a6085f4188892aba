import type { App } from '../../../contract/routes/apps.ts';
import { createInvalidatedCache, type ChangeFeed, type Database } from '../../platform/db/index.ts';
import type { ToolDefinition } from '../tools/index.ts';
import { APPS_TOPIC } from './app-parts.ts';
import { wireApp } from './app-wire.ts';
import { allApps, type AppRow } from './app.store.ts';
import { allInstallations, type InstallationRow } from './installation.store.ts';

/** Developers whose apps are held in memory. */
const MAX_DEVELOPERS = 1000;

interface Installed {
  row: InstallationRow;
  /** The pinned tools, as the installer's. The same list every time. */
  tools: readonly ToolDefinition[];
}

/** Every app and installation of one developer, as of one moment. */
export interface AppShelf {
  apps: ReadonlyMap<string, { row: AppRow; wire: App }>;
  /** By id, the newest first. */
  installations: ReadonlyMap<string, Installed>;
}

export const EMPTY_SHELF: AppShelf = { apps: new Map(), installations: new Map() };

function installedOf(row: InstallationRow): Installed {
  const { developerId, id: installationId, manifest } = row;
  const appId = manifest.app.id;
  const tools = manifest.tools.map((tool) => ({ ...tool, developerId, appId, installationId, enabled: true }));
  return { row, tools };
}

async function loadShelf(database: Database, developerId: string): Promise<AppShelf> {
  const [apps, installations] = await Promise.all([
    allApps(database, developerId),
    allInstallations(database, developerId),
  ]);
  return {
    apps: new Map(apps.map((row) => [row.appId, { row, wire: Object.freeze(wireApp(row)) }])),
    installations: new Map(installations.map((row) => [row.id, installedOf(row)])),
  };
}

/** The apps of developers, in memory and in step with the database. */
export function createAppCache(database: Database, changes: ChangeFeed) {
  return createInvalidatedCache<AppShelf>({
    feed: changes,
    topic: APPS_TOPIC,
    maxEntries: MAX_DEVELOPERS,
    load: (developerId) => loadShelf(database, developerId),
  });
}

/** The installation that an id means: its own id, or the appId of the app; of several the newest. */
export function findInstalled({ installations }: AppShelf, id: string): Installed | undefined {
  return installations.get(id) ?? [...installations.values()].find(({ row }) => row.manifest.app.id === id);
}
