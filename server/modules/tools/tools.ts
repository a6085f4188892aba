import type { ChatBody } from '../../../contract/routes/ai.ts';
import type { ChangeFeed, Database } from '../../platform/db/index.ts';
import type { RequestContext } from '../../platform/http/index.ts';
import { ANY_INPUT, demandUsableName, demandUsableTool } from './check-tool.ts';
import { invokeTool, type InvokeDependencies, type ToolCall } from './invoke-tool.ts';
import { packsByIds } from './packs/pack.store.ts';
import { createToolCache, type ToolShelf } from './tool-cache.ts';
import type { ToolDefinition, ToolOutcome } from './tool-definition.ts';

export interface ToolsOptions extends InvokeDependencies {
  database: Database;
  changes: ChangeFeed;
}

type ExtraTool = NonNullable<ChatBody['tools']>[number];

/** A tool pack as chats use it. */
interface PackContent {
  packId: string;
  /** Names, whether or not such tools exist. */
  tools: readonly string[];
  /** Joins the system prompt; may be empty. */
  knowledge: string;
}

/** Registered tools and the gate in front of their calls. */
export interface Tools {
  database: Database;
  /** All tools of a developer; from memory when they were asked for before. */
  shelfOf: (developerId: string) => ToolShelf | Promise<ToolShelf>;
  /** Forgets what is in memory of a developer, right after a change of this process. */
  forget: (developerId: string) => void;
  /** The tools that a chat may use, of one app or all. The same list object until a tool changes. */
  enabledTools: (developerId: string, appId: string | undefined) => Promise<readonly ToolDefinition[]>;
  findTool: (developerId: string, name: string) => Promise<ToolDefinition | undefined>;
  /** The definition of a tool that a request brings along; `field` is where it stands there. */
  definitionOf: (developerId: string, tool: ExtraTool, field: string) => ToolDefinition;
  /** What packs bring to a chat; ids that name none are passed over. */
  readPacks: (developerId: string, packIds: readonly string[]) => Promise<PackContent[]>;
  invoke: (ctx: RequestContext, call: ToolCall) => Promise<ToolOutcome>;
}

const NO_TOOLS: ToolShelf = { rows: [], byName: new Map(), enabled: () => [] };

function definitionOf(developerId: string, tool: ExtraTool, field: string): ToolDefinition {
  demandUsableName(tool.name, `${field}.name`);
  demandUsableTool(tool, `${field}.`);
  const { name, description = '', input_schema: inputSchema = ANY_INPUT, execution } = tool;
  return { developerId, name, description, inputSchema, execution, enabled: true };
}

export function createTools(options: ToolsOptions): Tools {
  const { database, changes } = options;
  const cache = createToolCache(database, changes);
  const shelfOf = (developerId: string): ToolShelf | Promise<ToolShelf> => {
    const warm = cache.peek(developerId);
    return warm ?? Promise.resolve(cache.get(developerId)).then((shelf) => shelf ?? NO_TOOLS);
  };
  return {
    database,
    shelfOf,
    forget: (developerId) => cache.invalidate(developerId),
    enabledTools: async (developerId, appId) => (await shelfOf(developerId)).enabled(appId),
    findTool: async (developerId, name) => (await shelfOf(developerId)).byName.get(name)?.definition,
    definitionOf,
    readPacks: async (developerId, packIds) => (packIds.length === 0 ? [] : packsByIds(database, developerId, packIds)),
    invoke: (ctx, call) => invokeTool(options, ctx, call),
  };
}
