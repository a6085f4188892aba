import type { updateTool as contract } from '../../../contract/routes/tools.ts';
import type { RouteInput } from '../../../contract/shared/route.ts';
import { notifyChange, type Database } from '../../platform/db/index.ts';
import { demandUsableTool } from './check-tool.ts';
import { demandRoom } from './demand-room.ts';
import { noSuchTool } from './no-such-tool.ts';
import { TOOLS_TOPIC } from './tool-cache.ts';
import { lockTool, saveTool, type ToolRow } from './tool.store.ts';

type Change = RouteInput<typeof contract>['body'];

function changed(row: ToolRow, change: Change): ToolRow {
  return {
    ...row,
    description: change.description ?? row.description,
    appId: change.appId === undefined ? row.appId : change.appId,
    inputSchema: change.input_schema ?? row.inputSchema,
    execution: change.execution ?? row.execution,
    enabled: change.enabled ?? row.enabled,
  };
}

/** Changes what is given and leaves the rest. */
export async function updateTool(
  database: Database,
  tool: { developerId: string; name: string },
  change: Change,
): Promise<ToolRow> {
  demandUsableTool(change);
  return database.transaction(async (tx) => {
    const row = await lockTool(tx, tool.developerId, tool.name);
    if (!row) throw noSuchTool(tool.name);
    const stored = await saveTool(tx, changed(row, change));
    await demandRoom(tx, { row: stored, isNew: false });
    await notifyChange(tx, TOOLS_TOPIC, tool.developerId);
    return stored;
  });
}
