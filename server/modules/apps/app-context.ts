import type { ToolDefinition, Tools } from '../tools/index.ts';
import { findInstalled, type AppShelf } from './app-cache.ts';
import type { AppRow } from './app.store.ts';
import { definitionsOf } from './app-tools.ts';

/** What an appContext brings to a chat. */
export interface AppContext {
  tools: readonly ToolDefinition[];
  /** Of its packs; joins the system prompt. Empty when there is none. */
  knowledge: string;
}

/** Characters of knowledge that go to the model; with more, chats would fail for being too long. */
const MAX_KNOWLEDGE = 200_000;

/** The knowledge of packs in their order; of those that do not fit, that they are left out. */
function joined(packs: readonly { packId: string; knowledge: string }[]): string {
  const parts: string[] = [];
  const leftOut: string[] = [];
  let length = 0;
  for (const { packId, knowledge } of packs) {
    const text = knowledge.trim();
    if (text === '') continue;
    length += text.length;
    if (length <= MAX_KNOWLEDGE) parts.push(text);
    else leftOut.push(packId);
  }
  if (leftOut.length > 0) parts.push(`[The knowledge of these packs is left out, as too long: ${leftOut.join(', ')}]`);
  return parts.join('\n\n');
}

async function ownContext(tools: Tools, { developerId, definition }: AppRow): Promise<AppContext> {
  const packs = await tools.readPacks(developerId, definition.toolPacks ?? []);
  const names = packs.flatMap((pack) => pack.tools);
  return { tools: await definitionsOf(tools, { developerId, definition }, names), knowledge: joined(packs) };
}

/** Of an own app, else of an installed one; an id that means neither still selects the tools that carry it. */
export async function contextOf(
  tools: Tools,
  shelf: AppShelf,
  { developerId, id }: { developerId: string; id: string },
): Promise<AppContext> {
  const own = shelf.apps.get(id);
  if (own) return ownContext(tools, own.row);
  const installed = findInstalled(shelf, id);
  if (installed) return { tools: installed.tools, knowledge: joined(installed.row.manifest.packs) };
  return { tools: await tools.enabledTools(developerId, id), knowledge: '' };
}
