import type { App } from '../../../contract/routes/apps.ts';
import { createInvalidatedCache, type ChangeFeed, type Database } from '../../platform/db/index.ts';
import { APPS_TOPIC } from './app-parts.ts';
import { wireApp } from './app-wire.ts';
import { allApps, type AppRow } from './app.store.ts';

/** Developers whose apps are held in memory. */
const MAX_DEVELOPERS = 2000;

/** Every app of one developer, as of one moment. */
export interface AppShelf {
  apps: ReadonlyMap<string, { row: AppRow; wire: App }>;
}

async function loadShelf(database: Database, developerId: string): Promise<AppShelf> {
  const rows = await allApps(database, developerId);
  return { apps: new Map(rows.map((row) => [row.appId, { row, wire: Object.freeze(wireApp(row)) }])) };
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
