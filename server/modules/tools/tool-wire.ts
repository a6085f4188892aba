import type { Tool } from '../../../contract/routes/tools.ts';
import type { ToolRow } from './tool.store.ts';

/** A tool as the API shows it whole. */
export function wireTool(row: ToolRow): Tool {
  return {
    _id: row.id,
    name: row.name,
    description: row.description,
    ...(row.appId === null ? {} : { appId: row.appId }),
    developerId: row.developerId,
    input_schema: row.inputSchema,
    ...(row.execution === null ? {} : { execution: row.execution }),
    enabled: row.enabled,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** A tool as lists show it. */
export function wireListedTool(
  row: ToolRow,
): Pick<Tool, '_id' | 'name' | 'description' | 'appId' | 'enabled' | 'updatedAt'> {
  const { _id, name, description, appId, enabled, updatedAt } = wireTool(row);
  return { _id, name, description, ...(appId === undefined ? {} : { appId }), enabled, updatedAt };
}
