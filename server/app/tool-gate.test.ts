import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Permission } from '../../contract/shared/tiers.ts';
import { queryRows } from '../testing/query-rows.ts';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';
import { pick } from '../testing/start-test-app.ts';
import { callWhatIsAsked, TOOL_PATHS, type ToolPath, type TriedTool } from '../testing/tool-paths.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TOO_LARGE = 5 * 1024 * 1024 + 1;

/** By the path of the tool's address. */
const ANSWERS: Record<string, (response: ServerResponse) => void> = {
  '/works': (response) => response.end('{"value":7}'),
  '/fails': (response) => response.writeHead(503).end('down'),
  '/lies': (response) => response.end('{"value":'),
  '/huge': (response) => response.end(JSON.stringify('x'.repeat(TOO_LARGE))),
  '/deep': (response) => response.end('['.repeat(2000) + ']'.repeat(2000)),
  '/hangs': () => undefined,
  '/leads-elsewhere': (response) => response.writeHead(302, { location: `http://localhost:${port}/works` }).end(),
  '/leads-astray': (response) => response.writeHead(302, { location: `http://127.0.0.2:${port}/works` }).end(),
};

let it: ChatApp;
let server: Server;
let port: number;
let asked: string[] = [];
let lines: string[] = [];
let developer: { id: string; key: string };
let count = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    response.setHeader('content-type', 'application/json');
    ANSWERS[request.url?.split('?')[0] ?? '']?.(response);
  }).listen(0, '0.0.0.0');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
  const log = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  it = await startChatApp({ OUTBOUND_PRIVATE: 'deny', OUTBOUND_ALLOW: '127.0.0.1,localhost', LOG_LEVEL: 'debug' }, log);
  it.play(callWhatIsAsked);
});
afterAll(async () => {
  await it.stop();
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  developer = await it.app.createDeveloper();
  [asked, lines] = [[], []];
});

const PATHS = Object.entries<ToolPath>(TOOL_PATHS);

function toolAt(path: string, more: Partial<TriedTool> = {}): TriedTool {
  count++;
  return {
    name: `tried_${count}`,
    input_schema: { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false },
    execution: { type: 'http', method: 'GET', url: `http://127.0.0.1:${port}${path}` },
    isEnabled: true,
    input: { n: 1 },
    ...more,
  };
}

/** Events and lines of the log that tell of the tool. */
async function tracesOf({ name }: TriedTool) {
  const sql = `select type, data from outbox_events where developer_id = $1 and data ->> 'toolName' = $2`;
  const events = await queryRows(it.app.databaseUrl, sql, [developer.id, name]);
  const parsed = lines.map((line): unknown => JSON.parse(line));
  const logged = parsed.filter((line) => Object(line).tool === name);
  return { events, logged };
}

interface Gate {
  gate: string;
  tool: () => TriedTool;
  /** What the caller is told. */
  says: RegExp;
  /** Whether the tool's address is called. */
  isAsked: boolean;
  reason: 'disabled' | 'invalid_input' | 'failed' | 'needs_agent';
}

const GATES: readonly Gate[] = [
  {
    gate: 'switched off',
    tool: () => toolAt('/works', { isEnabled: false }),
    says: /is disabled\.$|^There is no (?:enabled )?tool named/,
    isAsked: false,
    reason: 'disabled',
  },
  {
    gate: 'input that breaks the schema',
    tool: () => toolAt('/works', { input: { n: 'x' } }),
    says: /\bn must be an integer/,
    isAsked: false,
    reason: 'invalid_input',
  },
  {
    gate: 'an address that is not to be called',
    tool: () => toolAt('', { execution: { type: 'http', method: 'GET', url: `http://127.0.0.2:${port}/works` } }),
    says: /OUTBOUND_ALLOW/,
    isAsked: false,
    reason: 'failed',
  },
  {
    gate: 'a redirect to such an address',
    tool: () => toolAt('/leads-astray'),
    says: /OUTBOUND_ALLOW/,
    isAsked: true,
    reason: 'failed',
  },
  { gate: 'a failing service', tool: () => toolAt('/fails'), says: /HTTP 503/, isAsked: true, reason: 'failed' },
  {
    gate: 'an answer that lies',
    tool: () => toolAt('/lies'),
    says: /is JSON, but is not/,
    isAsked: true,
    reason: 'failed',
  },
  { gate: 'an answer too large', tool: () => toolAt('/huge'), says: /larger than/, isAsked: true, reason: 'failed' },
  { gate: 'an answer too deep', tool: () => toolAt('/deep'), says: /nests deeper/, isAsked: true, reason: 'failed' },
  {
    gate: 'a handler without an agent',
    tool: () => toolAt('', { execution: { type: 'handler' } }),
    says: /agent/,
    isAsked: false,
    reason: 'needs_agent',
  },
];

/** The paths on which a tool that is switched off is not even found, so that no call comes to the gate. */
const FINDS_ENABLED = new Set([
  'chat',
  'chat, streamed',
  'chat with a tool of its own',
  'chat with an installed app',
  'dashboard',
]);

/** A tool that is tried out is run although it is switched off. */
function gatesOf(pathName: string): Gate[] {
  return GATES.filter(({ gate }) => pathName !== 'test' || gate !== 'switched off');
}

describe.each(PATHS)('by %s', (pathName, path) => {
  test('a call passes, and leaves one event and one line', async () => {
    const tool = toolAt('/works');
    expect(await path.run(it, developer, tool)).toEqual({ isOk: true, text: '{"value":7}' });
    expect(asked).toEqual([`127.0.0.1:${port} /works?n=1`]);
    const { events, logged } = await tracesOf(tool);
    const data = { toolName: tool.name, input: { n: 1 }, result: { value: 7 }, elapsed_ms: expect.any(Number) };
    expect(events).toEqual([{ type: 'tool.executed', data }]);
    expect(logged).toMatchObject([{ status: 'success', developerId: developer.id, requestId: expect.any(String) }]);
  });

  test.each(gatesOf(pathName))('$gate', async ({ tool: make, says, isAsked, reason }) => {
    const tool = make();
    const outcome = await path.run(it, developer, tool);
    const { events, logged } = await tracesOf(tool);
    expect(outcome).toEqual({ isOk: false, text: expect.stringMatching(says) });
    expect(asked).toHaveLength(isAsked ? 1 : 0);
    const failed = { toolName: tool.name, input: tool.input, error: expect.stringMatching(says) };
    expect(events).toEqual(reason === 'failed' ? [{ type: 'tool.failed', data: failed }] : []);
    const isFound = reason !== 'disabled' || !FINDS_ENABLED.has(pathName);
    expect(logged).toMatchObject(isFound ? [{ status: 'error', reason }] : []);
    expect(logged).toHaveLength(isFound ? 1 : 0);
  });
});

test('a service that never answers is given up, on every path at the same time', async () => {
  const tried = PATHS.map(([, path]) => ({ path, tool: toolAt('/hangs') }));
  const outcomes = await Promise.all(tried.map(({ path, tool }) => path.run(it, developer, tool)));
  for (const [index, { tool }] of tried.entries()) {
    expect(outcomes[index]).toEqual({ isOk: false, text: expect.stringMatching(/within 10000 ms|longer than 8 s/) });
    expect((await tracesOf(tool)).events).toMatchObject([{ type: 'tool.failed' }]);
  }
}, 60_000);

describe('permission', () => {
  const ALLOWED: Record<string, readonly Permission[]> = {
    'POST /v1/ai/chat': ['read'],
    'POST /v1/ai/chat/stream': ['read'],
    'GET /v1/apps/board/dashboard': ['read'],
    'POST /v1/ai/tool-call': ['write'],
    'POST /v1/tools/permitted/test': ['write'],
    'POST /v1/workflows/{id}/run': ['write'],
  };

  test.each(['read', 'write', 'admin'] as const)('a key that holds %s alone', async (permission) => {
    const call = async (method: string, path: string, body?: unknown) =>
      it.app.call(method, path, { key: developer.key, body });
    const { isEnabled: _isEnabled, ...definition } = toolAt('/works', { name: 'permitted', input: {} });
    await call('POST', '/v1/tools', { description: 'x', ...definition });
    const widgets = [{ type: 'stat', title: 'T', source: 'permitted' }];
    await call('POST', '/v1/apps', { app: { id: 'board', name: 'Board' }, dashboard: { widgets } });
    const nodes = [{ id: 'n', type: 'tool-call', config: { tool: 'permitted' } }];
    const id = String(pick((await call('POST', '/v1/workflows', { name: 'W', nodes, edges: [] })).body, '_id'));
    const { key } = await it.app.createKey(developer.key, [permission]);
    const message = JSON.stringify({ name: 'permitted', input: {} });
    for (const [route, allowed] of Object.entries(ALLOWED)) {
      const [method = '', path = ''] = route.split(' ');
      const body = method === 'GET' ? undefined : { message, tool: 'permitted' };
      const { status } = await it.app.call(method, path.replace('{id}', id), { key, body });
      expect({ route, status }).toEqual({ route, status: allowed.includes(permission) ? 200 : 403 });
    }
    const needed = Object.values(ALLOWED).filter((allowed) => allowed.includes(permission));
    // Runs come to the tool after their answer.
    await expect.poll(() => asked.length).toBe(needed.length);
  });
});

describe('a redirect to another host', () => {
  const INSTALLED = TOOL_PATHS['chat with an installed app'];

  test.each(PATHS.filter(([, path]) => path !== INSTALLED))('is followed by %s', async (_name, path) => {
    const outcome = await path.run(it, developer, toolAt('/leads-elsewhere'));
    expect(outcome).toEqual({ isOk: true, text: '{"value":7}' });
    expect(asked).toHaveLength(2);
  });

  test('is not followed by an installed app, of which others agreed to certain hosts', async () => {
    const outcome = await INSTALLED.run(it, developer, toolAt('/leads-elsewhere'));
    expect(outcome).toEqual({ isOk: false, text: expect.stringContaining('another host') });
    expect(asked).toHaveLength(1);
  });
});

test('trying a tool out runs it although it is switched off', async () => {
  const tool = toolAt('/works', { isEnabled: false });
  expect(await TOOL_PATHS.test.run(it, developer, tool)).toEqual({ isOk: true, text: '{"value":7}' });
  expect((await tracesOf(tool)).events).toMatchObject([{ type: 'tool.executed' }]);
});

async function filesWith(pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  for await (const file of glob('server/{app,modules}/**/*.ts', { cwd: ROOT })) {
    if (!file.endsWith('.test.ts') && pattern.test(await readFile(join(ROOT, file), 'utf8'))) found.push(file);
  }
  return found.toSorted();
}

describe('there is no way past the gate', () => {
  test('every file that calls a tool is on a path that is walked here', async () => {
    const walked = new Set<string>(Object.values(TOOL_PATHS).map(({ file }) => file));
    expect(await filesWith(/\btools\s*\.invoke\(/)).toEqual([...walked].toSorted());
  });

  test('only the gate sends the requests of tools and calls handlers', async () => {
    expect(await filesWith(/\binvokeTool\(/)).toEqual([
      'server/modules/tools/invoke-tool.ts',
      'server/modules/tools/tools.ts',
    ]);
    expect(await filesWith(/\brelay\s*\.call\(/)).toEqual(['server/modules/tools/invoke-tool.ts']);
    expect(await filesWith(/\boutbound\s*\.request\(/)).toEqual([
      'server/modules/events/deliveries/send-message.ts',
      'server/modules/tools/invoke-tool.ts',
      'server/modules/workflows/nodes/http-request.ts',
    ]);
  });
});
