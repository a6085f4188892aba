import type { ChangeFeed } from '../../platform/db/index.ts';
import { createAppCache, type AppShelf } from './app-cache.ts';
import type { AppParts } from './app-parts.ts';

export interface AppsOptions extends AppParts {
  changes: ChangeFeed;
}

/** Apps of developers. */
export interface Apps extends AppParts {
  /** All apps of a developer; from memory when they were asked for before. */
  shelfOf: (developerId: string) => Promise<AppShelf>;
  /** Forgets what is in memory of a developer, right after a change of this process. */
  forget: (developerId: string) => void;
}

const NO_APPS: AppShelf = { apps: new Map() };

export function createApps({ changes, ...parts }: AppsOptions): Apps {
  const cache = createAppCache(parts.database, changes);
  return {
    ...parts,
    shelfOf: async (developerId) => (await cache.get(developerId)) ?? NO_APPS,
    forget: (developerId) => cache.invalidate(developerId),
  };
}
