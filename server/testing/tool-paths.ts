import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatApp } from './start-chat-app.ts';
import { demandSuccess } from './every-record.ts';
import { pick, pickText, type Answer } from './start-test-app.ts';
import type { VendorRequestRecord, VendorTurn } from './scripted-vendor-turn.ts';

const POLL_MS = 10;

/** A tool that is tried, before it is registered anywhere. */
export interface TriedTool {
  name: string;
  input_schema: Record<string, unknown>;
  execution: Record<string, unknown>;
  /** False: it is switched off before it is called. */
  isEnabled: boolean;
  input: Record<string, unknown>;
}

export interface PathOutcome {
  isOk: boolean;
  /** The result as JSON, or why there is none. */
  text: string;
}

interface Developer {
  id: string;
  key: string;
}

/** One way from a request to the call of a tool. */
export interface ToolPath {
  /** Where the call is made. */
  file: string;
  run: (it: ChatApp, developer: Developer, tool: TriedTool) => Promise<PathOutcome>;
}

/** A model that calls the tool that its user names, and repeats what came back. */
export function callWhatIsAsked({ body }: VendorRequestRecord): VendorTurn {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const last = JSON.stringify(messages.at(-1));
  if (last.includes('"tool_result"')) return { text: last };
  const asked: unknown = JSON.parse(pickText(messages[0], 'content', 0, 'text'));
  return { toolCalls: [{ name: pickText(asked, 'name'), input: pick(asked, 'input') }] };
}

function as({ app }: ChatApp, { key }: Developer) {
  const call = (method: string, path: string, body?: unknown): Promise<Answer> => app.call(method, path, { key, body });
  const demand = async (method: string, path: string, body?: unknown) => demandSuccess(await call(method, path, body));
  return { call, demand };
}

async function register(it: ChatApp, developer: Developer, tool: TriedTool & { appId?: string }): Promise<void> {
  const { isEnabled, input: _input, ...definition } = tool;
  const { demand } = as(it, developer);
  await demand('POST', '/v1/tools', { description: 'Tried.', ...definition });
  if (!isEnabled) await demand('PUT', `/v1/tools/${tool.name}`, { enabled: false });
}

function messageOf({ body }: Answer): string {
  return pickText(body, 'error', 'message');
}

/** What the model was told, which the scripted one repeats. */
function toldModel(text: string): PathOutcome {
  const told: unknown = JSON.parse(text);
  const result = pick(told, 'content', 0);
  const isError = typeof result === 'object' && result !== null && 'is_error' in result;
  return { isOk: !isError, text: pickText(result, 'content') };
}

function question({ name, input }: TriedTool): string {
  return JSON.stringify({ name, input });
}

async function chat(it: ChatApp, developer: Developer, body: Record<string, unknown>): Promise<PathOutcome> {
  const { demand } = as(it, developer);
  return toldModel(pickText(await demand('POST', '/v1/ai/chat', body), 'response'));
}

/** The text of a stream of server-sent events. */
function streamedText(body: unknown): string {
  const events = String(body)
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line): unknown => JSON.parse(line.slice(6)));
  return events
    .filter((event) => pick(event, 'type') === 'stream')
    .map((event) => pickText(event, 'text'))
    .join('');
}

/** The outcome as `error` or `result` say it. */
function outcomeIn(body: unknown, isOk: boolean): PathOutcome {
  return isOk ? { isOk, text: JSON.stringify(pick(body, 'result')) } : { isOk, text: pickText(body, 'error') };
}

async function runWorkflow(it: ChatApp, developer: Developer, { name, input }: TriedTool): Promise<PathOutcome> {
  const { demand } = as(it, developer);
  const nodes = [{ id: 'n', type: 'tool-call', config: { tool: name, input } }];
  const path = `/v1/workflows/${pickText(await demand('POST', '/v1/workflows', { name, nodes, edges: [] }), '_id')}`;
  const run = `${path}/runs/${pickText(await demand('POST', `${path}/run`, {}), 'runId')}`;
  for (;;) {
    const body = await demand('GET', run);
    const status = pickText(body, 'status');
    if (status === 'completed' || status === 'failed') {
      return outcomeIn(pick(body, 'stepResults', 0), status === 'completed');
    }
    // Limits count for tests, too.
    await sleep(POLL_MS);
  }
}

async function showWidget(it: ChatApp, developer: Developer, { name, input }: TriedTool): Promise<PathOutcome> {
  const { demand } = as(it, developer);
  const widgets = [{ type: 'stat', title: 'T', source: name, input }];
  await demand('POST', '/v1/apps', { app: { id: name, name }, dashboard: { widgets } });
  const widget = pick(await demand('GET', `/v1/apps/${name}/dashboard`), 'widgets', 0);
  const isOk = pick(widget, 'status') === 'ok';
  return isOk ? { isOk, text: JSON.stringify(pick(widget, 'data')) } : { isOk, text: pickText(widget, 'error') };
}

/** Published by another developer; gives the id of the installation. */
async function installWith(it: ChatApp, developer: Developer, tool: TriedTool): Promise<string> {
  const publisher = await it.app.createDeveloper();
  const { demand } = as(it, publisher);
  const { name } = tool;
  const app = await demand('POST', '/v1/apps', { app: { id: name, name } });
  await register(it, publisher, { ...tool, appId: name });
  await demand('POST', `/v1/apps/${name}/publish`);
  const path = `/v1/marketplace/apps/${pickText(app, '_id')}/install`;
  return pickText(await as(it, developer).demand('POST', path), '_id');
}

/** Every way to the call of a tool. */
export const TOOL_PATHS = {
  chat: {
    file: 'server/modules/ai/chat.ts',
    run: async (it, developer, tool) => {
      await register(it, developer, tool);
      return chat(it, developer, { message: question(tool) });
    },
  },
  'chat, streamed': {
    file: 'server/modules/ai/chat.ts',
    run: async (it, developer, tool) => {
      await register(it, developer, tool);
      const body = await as(it, developer).demand('POST', '/v1/ai/chat/stream', { message: question(tool) });
      return toldModel(streamedText(body));
    },
  },
  'chat with a tool of its own': {
    file: 'server/modules/ai/chat.ts',
    run: (it, developer, tool) => {
      const { isEnabled, input: _input, ...definition } = tool;
      const tools = isEnabled ? [{ description: 'Tried.', ...definition }] : [];
      return chat(it, developer, { message: question(tool), tools });
    },
  },
  'chat with an installed app': {
    file: 'server/modules/ai/chat.ts',
    run: async (it, developer, tool) => {
      const appContext = await installWith(it, developer, tool);
      return chat(it, developer, { message: question(tool), appContext });
    },
  },
  'tool-call': {
    file: 'server/modules/ai/call-tool.ts',
    run: async (it, developer, tool) => {
      await register(it, developer, tool);
      const body = { tool: tool.name, input: tool.input };
      const answer = await as(it, developer).call('POST', '/v1/ai/tool-call', body);
      if (answer.status === 200) return outcomeIn(answer.body, true);
      return { isOk: false, text: messageOf(answer) };
    },
  },
  test: {
    file: 'server/modules/tools/tools.routes.ts',
    run: async (it, developer, tool) => {
      await register(it, developer, tool);
      const body = await as(it, developer).demand('POST', `/v1/tools/${tool.name}/test`, { input: tool.input });
      return outcomeIn(body, pick(body, 'status') === 'success');
    },
  },
  workflow: {
    file: 'server/modules/workflows/nodes/tool-call.ts',
    run: async (it, developer, tool) => {
      await register(it, developer, tool);
      return runWorkflow(it, developer, tool);
    },
  },
  dashboard: {
    file: 'server/modules/apps/dashboard/read-dashboard.ts',
    run: async (it, developer, tool) => {
      await register(it, developer, tool);
      return showWidget(it, developer, tool);
    },
  },
} as const satisfies Record<string, ToolPath>;
