import type { listTools as contract } from '../../../contract/routes/tools.ts';
import type { RouteInput, RouteOutput } from '../../../contract/shared/route.ts';
import type { ToolShelf } from './tool-cache.ts';
import { wireListedTool } from './tool-wire.ts';

/** A page of tools in order of name; the cursor is the name of the last one, wrapped so that nobody builds on it. */
export function listTools(shelf: ToolShelf, query: RouteInput<typeof contract>['query']): RouteOutput<typeof contract> {
  const { appId, limit, cursor } = query;
  const all = appId === undefined ? shelf.rows : shelf.rows.filter((row) => row.appId === appId);
  const after = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString();
  // The same order as the database's: by code point, which is the order of the bytes.
  const rest =
    after === undefined ? all : all.filter(({ name }) => Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0);
  const page = limit === undefined ? rest : rest.slice(0, limit);
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return {
    tools: page.map(wireListedTool),
    total: all.length,
    ...(last ? { nextCursor: Buffer.from(last.name).toString('base64url') } : {}),
  };
}
