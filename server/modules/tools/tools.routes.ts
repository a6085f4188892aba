import * as contract from '../../../contract/routes/tools.ts';
import type { Tool } from '../../../contract/routes/tools.ts';
import { implement, type RequestContext, type Route } from '../../platform/http/index.ts';
import { deleteTool } from './delete-tool.ts';
import { listTools } from './list-tools.ts';
import { noSuchTool } from './no-such-tool.ts';
import { packRoutes } from './packs/packs.routes.ts';
import { registerTool } from './register-tool.ts';
import type { ToolShelf } from './tool-cache.ts';
import { wireTool } from './tool-wire.ts';
import type { Tools } from './tools.ts';
import { updateTool } from './update-tool.ts';

function wireOf(shelf: ToolShelf, name: string): Tool {
  const entry = shelf.byName.get(name);
  if (!entry) throw noSuchTool(name);
  return entry.wire;
}

async function tryTool(tools: Tools, ctx: RequestContext, call: { name: string; input: Record<string, unknown> }) {
  const definition = await tools.findTool(ctx.caller.developerId, call.name);
  if (!definition) throw noSuchTool(call.name);
  const outcome = await tools.invoke(ctx, { definition, input: call.input, allowDisabled: true });
  return outcome.status === 'success'
    ? { status: 'success' as const, result: outcome.result, elapsed_ms: outcome.elapsedMs }
    : { status: 'error' as const, error: outcome.error, elapsed_ms: outcome.elapsedMs };
}

export function toolRoutes(tools: Tools): Route[] {
  const { database } = tools;
  return [
    implement(contract.registerTool, async ({ caller: { developerId } }, { body }) => {
      const { row, isNew } = await registerTool(database, developerId, body);
      tools.forget(developerId);
      return isNew ? wireTool(row) : { ...wireTool(row), updated: true as const };
    }),
    implement(contract.listTools, async ({ caller }, { query }) =>
      listTools(await tools.shelfOf(caller.developerId), query),
    ),
    implement(contract.getTool, ({ caller }, { params }) => {
      const shelf = tools.shelfOf(caller.developerId);
      return shelf instanceof Promise
        ? shelf.then((loaded) => wireOf(loaded, params.name))
        : wireOf(shelf, params.name);
    }),
    implement(contract.updateTool, async ({ caller: { developerId } }, { params, body }) => {
      const row = await updateTool(database, { developerId, name: params.name }, body);
      tools.forget(developerId);
      return wireTool(row);
    }),
    implement(contract.deleteTool, async ({ caller: { developerId } }, { params }) => {
      await deleteTool(database, developerId, params.name);
      tools.forget(developerId);
      return { success: true as const };
    }),
    implement(contract.testTool, (ctx, { params, body }) =>
      tryTool(tools, ctx, { name: params.name, input: body.input ?? {} }),
    ),
    ...packRoutes(database),
  ];
}
