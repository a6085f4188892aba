import type { AppDefinition, getDashboard as contract, WidgetState } from '../../../../contract/routes/apps.ts';
import type { RouteOutput } from '../../../../contract/shared/route.ts';
import type { RequestContext } from '../../../platform/http/index.ts';
import type { ToolDefinition, Tools } from '../../tools/index.ts';
import { findInstalled, type AppShelf } from '../app-cache.ts';
import { definitionsOf, toolNamesOf } from '../app-tools.ts';
import type { Apps } from '../apps.ts';
import { hiddenTexts } from '../hidden-values.ts';
import { noSuchApp } from '../no-such-app.ts';
import { openDefinition } from '../seal-definition.ts';
import type { Recent } from './recent.ts';
import { shapeChart, shapeStat, UnusableResult } from './shape-data.ts';

const TIMEOUT_MS = 8000;

type Widget = NonNullable<NonNullable<AppDefinition['dashboard']>['widgets']>[number] & {
  /** Without what is secret in it. */
  shownInput?: Record<string, unknown> | undefined;
};

interface Board {
  appId: string;
  name: string;
  /** Changes with everything that the data depend on, but for the tools themselves. */
  edition: string;
  widgets: readonly Widget[];
  tools: ReadonlyMap<string, ToolDefinition>;
}

function byName(definitions: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> {
  return new Map(definitions.map((definition) => [definition.name, definition]));
}

/** Widgets with what is secret in their input, and what may be told of that. */
function widgetsOf(opened: AppDefinition, shown: AppDefinition): Widget[] {
  const shownWidgets = shown.dashboard?.widgets ?? [];
  return (opened.dashboard?.widgets ?? []).map((widget, index) => ({
    ...widget,
    shownInput: shownWidgets[index]?.input,
  }));
}

/** The dashboard of an own app, else of an installed one. */
async function boardOf(apps: Apps, shelf: AppShelf, id: string): Promise<Board> {
  const own = shelf.apps.get(id)?.row;
  if (own) {
    const definition = openDefinition(apps.vault, own, own);
    const { developerId, appId } = own;
    const packs = await apps.tools.readPacks(developerId, definition.toolPacks ?? []);
    const tools = await definitionsOf(apps.tools, { developerId, definition }, toolNamesOf(definition, packs));
    const edition = `${own.id} ${own.updatedAt.getTime()}`;
    return {
      appId,
      name: definition.app.name,
      edition,
      widgets: widgetsOf(definition, own.definition),
      tools: byName(tools),
    };
  }
  const installed = findInstalled(shelf, id);
  if (!installed) throw noSuchApp(id);
  const { manifest, updatedAt } = installed.row;
  const { id: appId, name } = manifest.app;
  const edition = `${installed.row.id} ${updatedAt.getTime()}`;
  return { appId, name, edition, widgets: manifest.dashboard?.widgets ?? [], tools: byName(installed.tools) };
}

type Outcome = Pick<WidgetState, 'status' | 'data' | 'error' | 'updatedAt'>;

function failed(error: string): Outcome {
  return { status: 'error', error, updatedAt: new Date().toISOString() };
}

function shape({ type, chartType = 'line' }: Widget, result: unknown): Outcome {
  try {
    const data = type === 'stat' ? shapeStat(result) : shapeChart(result, chartType);
    return { status: 'ok', data, updatedAt: new Date().toISOString() };
  } catch (error) {
    if (error instanceof UnusableResult) return failed(error.message);
    throw error;
  }
}

async function call(tools: Tools, ctx: RequestContext, run: { widget: Widget; definition: ToolDefinition }) {
  const { widget, definition } = run;
  // Not the signal of the request: what is fetched serves those who ask next as well.
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { requestId, caller } = ctx;
  const { input = {}, shownInput = input } = widget;
  const discretion = { shownInput, secrets: hiddenTexts(shownInput, input) };
  const late = (): Outcome => failed(`The tool "${definition.name}" took longer than ${TIMEOUT_MS / 1000} s.`);
  try {
    const outcome = await tools.invoke({ requestId, caller, signal }, { definition, input, discretion });
    if (outcome.status === 'success') return shape(widget, outcome.result);
    return signal.aborted ? late() : failed(outcome.error);
  } catch (error) {
    if (!signal.aborted) throw error;
    return late();
  }
}

export interface DashboardParts {
  apps: Apps;
  recent: Recent<Outcome>;
}

async function stateOf({ apps, recent }: DashboardParts, ctx: RequestContext, run: { board: Board; widget: Widget }) {
  const { board, widget } = run;
  const { type, title, source, chartType, input = {} } = widget;
  const definition = board.tools.get(source);
  const key = JSON.stringify([ctx.caller.developerId, board.edition, source, type, chartType ?? '', input]);
  const outcome = definition
    ? await recent.get(key, () => call(apps.tools, ctx, { widget, definition }))
    : failed(`There is no enabled tool named "${source}".`);
  const shown = type === 'chart' ? { chartType: chartType ?? ('line' as const) } : {};
  return { type, title, source, ...shown, ...outcome };
}

/** Runs the widgets of an app at the same time. One that fails says so, and leaves the others alone. */
export async function readDashboard(
  parts: DashboardParts,
  ctx: RequestContext,
  id: string,
): Promise<RouteOutput<typeof contract>> {
  const board = await boardOf(parts.apps, await parts.apps.shelfOf(ctx.caller.developerId), id);
  const widgets = await Promise.all(board.widgets.map((widget) => stateOf(parts, ctx, { board, widget })));
  return { appId: board.appId, name: board.name, widgets };
}
