import type { Tool } from '../../../contract/routes/tools.ts';
import { createInvalidatedCache, type ChangeFeed, type Database } from '../../platform/db/index.ts';
import type { ToolDefinition } from './tool-definition.ts';
import { wireTool } from './tool-wire.ts';
import { allTools, type ToolRow } from './tool.store.ts';

/** Topic of the change feed under which a developer is announced whose tools changed. */
export const TOOLS_TOPIC = 'tools';

/** Developers whose tools are held in memory. */
const MAX_DEVELOPERS = 2000;

/** Every tool of one developer, as of one moment. */
export interface ToolShelf {
  rows: readonly ToolRow[];
  byName: ReadonlyMap<string, { row: ToolRow; wire: Tool; definition: ToolDefinition }>;
  /** Enabled tools, of one app or of all (undefined). The same list every time. */
  enabled: (appId: string | undefined) => readonly ToolDefinition[];
}

function definitionOfRow(row: ToolRow): ToolDefinition {
  const { developerId, name, description, appId, inputSchema, execution, enabled } = row;
  return {
    developerId,
    name,
    description,
    inputSchema,
    enabled,
    appId: appId ?? undefined,
    execution: execution ?? undefined,
  };
}

function shelfOf(rows: readonly ToolRow[]): ToolShelf {
  const entries = rows.map((row) => ({ row, wire: Object.freeze(wireTool(row)), definition: definitionOfRow(row) }));
  const lists = new Map<string | undefined, readonly ToolDefinition[]>();
  const enabled = entries.filter(({ row }) => row.enabled).map(({ definition }) => definition);
  return {
    rows,
    byName: new Map(entries.map((entry) => [entry.row.name, entry])),
    enabled: (appId) => {
      const known = lists.get(appId);
      if (known) return known;
      const list = appId === undefined ? enabled : enabled.filter((definition) => definition.appId === appId);
      // Only apps that own tools are remembered: names that a caller invents must not grow memory.
      if (list.length > 0 || appId === undefined) lists.set(appId, list);
      return list;
    },
  };
}

/** The tools of developers, in memory and in step with the database. */
export function createToolCache(database: Database, changes: ChangeFeed) {
  return createInvalidatedCache<ToolShelf>({
    feed: changes,
    topic: TOOLS_TOPIC,
    maxEntries: MAX_DEVELOPERS,
    load: async (developerId) => shelfOf(await allTools(database, developerId)),
  });
}
