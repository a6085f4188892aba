import type { AppDefinition } from '../../../contract/routes/apps.ts';
import type { ToolDefinition, Tools } from '../tools/index.ts';

interface Packs {
  tools: readonly string[];
}

/** Names of tools that belong to an app without carrying its id: those of its packs and the sources of its widgets. */
export function toolNamesOf({ dashboard }: AppDefinition, packs: readonly Packs[]): string[] {
  const sources = (dashboard?.widgets ?? []).map(({ source }) => source);
  return [...packs.flatMap(({ tools }) => tools), ...sources];
}

function isRelative({ execution }: ToolDefinition): boolean {
  return execution?.url !== undefined && !URL.canParse(execution.url);
}

/** A tool that belongs to no app is called as one of this app where its url needs one. */
function asToolOf(appId: string, definition: ToolDefinition): ToolDefinition {
  return definition.appId === undefined && isRelative(definition) ? { ...definition, appId } : definition;
}

/** The enabled tools that carry the app's id, and those of the names, each once. */
export async function definitionsOf(
  tools: Tools,
  { developerId, definition }: { developerId: string; definition: AppDefinition },
  names: readonly string[],
): Promise<readonly ToolDefinition[]> {
  const appId = definition.app.id;
  const own = await tools.enabledTools(developerId, appId);
  if (names.length === 0) return own;
  const { byName } = await tools.shelfOf(developerId);
  const known = new Set(own.map(({ name }) => name));
  const further = [...new Set(names)]
    .filter((name) => !known.has(name))
    .map((name) => byName.get(name)?.definition)
    .filter((found) => found !== undefined)
    .filter(({ enabled }) => enabled)
    .map((found) => asToolOf(appId, found));
  return [...own, ...further];
}
