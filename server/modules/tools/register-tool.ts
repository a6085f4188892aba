import type { registerTool as contract } from '../../../contract/routes/tools.ts';
import type { RouteInput } from '../../../contract/shared/route.ts';
import { notifyChange, type Database } from '../../platform/db/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { ANY_INPUT, demandUsableName, demandUsableTool } from './check-tool.ts';
import { demandRoom } from './demand-room.ts';
import { TOOLS_TOPIC } from './tool-cache.ts';
import { upsertTool, type ToolRow } from './tool.store.ts';

/** Registers a tool; one of that name is replaced, but stays enabled or disabled as it was. */
export async function registerTool(
  database: Database,
  developerId: string,
  body: RouteInput<typeof contract>['body'],
): Promise<{ row: ToolRow; isNew: boolean }> {
  demandUsableName(body.name, 'name');
  demandUsableTool(body);
  return database.transaction(async (tx) => {
    const stored = await upsertTool(tx, {
      id: createId('tool'),
      developerId,
      name: body.name,
      description: body.description,
      appId: body.appId ?? null,
      inputSchema: body.input_schema ?? ANY_INPUT,
      execution: body.execution ?? null,
    });
    await demandRoom(tx, stored);
    await notifyChange(tx, TOOLS_TOPIC, developerId);
    return stored;
  });
}
