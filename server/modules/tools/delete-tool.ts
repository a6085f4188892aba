import { notifyChange, type Database } from '../../platform/db/index.ts';
import { noSuchTool } from './no-such-tool.ts';
import { TOOLS_TOPIC } from './tool-cache.ts';
import { removeTool } from './tool.store.ts';

export async function deleteTool(database: Database, developerId: string, name: string): Promise<void> {
  await database.transaction(async (tx) => {
    if (!(await removeTool(tx, developerId, name))) throw noSuchTool(name);
    await notifyChange(tx, TOOLS_TOPIC, developerId);
  });
}
