import type { ChangeFeed } from '../../platform/db/index.ts';
import type { ToolBinding, ToolDefinition } from '../tools/index.ts';
import { createAppCache, EMPTY_SHELF, type AppShelf } from './app-cache.ts';
import { contextOf, type AppContext } from './app-context.ts';
import type { AppParts } from './app-parts.ts';
import { createBindingReader } from './binding.ts';

export interface AppsOptions extends AppParts {
  changes: ChangeFeed;
}

/** Apps of developers. */
export interface Apps extends AppParts {
  /** All apps and installations of a developer; from memory when they were asked for before. */
  shelfOf: (developerId: string) => Promise<AppShelf>;
  /** Forgets what is in memory of a developer, right after a change of this process. */
  forget: (developerId: string) => void;
  /** The tools of a chat in the context of an app, and what it should know; all tools without a context. */
  contextOf: (developerId: string, appContext: string | undefined) => Promise<AppContext>;
  /** What the owning app adds to a call of a tool. */
  bindingOf: (definition: ToolDefinition) => Promise<ToolBinding | undefined>;
}

export function createApps({ changes, ...parts }: AppsOptions): Apps {
  const { database, tools, vault } = parts;
  const cache = createAppCache(database, changes);
  const readBinding = createBindingReader(vault);
  const shelfOf = async (developerId: string): Promise<AppShelf> => (await cache.get(developerId)) ?? EMPTY_SHELF;
  return {
    ...parts,
    shelfOf,
    forget: (developerId) => cache.invalidate(developerId),
    contextOf: async (developerId, id) =>
      id === undefined
        ? { tools: await tools.enabledTools(developerId, undefined), knowledge: '' }
        : contextOf(tools, await shelfOf(developerId), { developerId, id }),
    bindingOf: async (definition) => readBinding(await shelfOf(definition.developerId), definition),
  };
}
