import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';
import { startScriptedVendor, type ScriptedVendor, type VendorScript } from '../testing/scripted-vendor.ts';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';

const DEFAULT_MODEL = 'neutral-sonnet-4-20250514';

let app: TestApp;
let vendor: ScriptedVendor;
let script: VendorScript;
let target: Server;
let targetUrl: string;
let developer: { id: string; key: string; keyId: string };

beforeAll(async () => {
  vendor = await startScriptedVendor({
    script: (request, index) => (typeof script === 'function' ? script(request, index) : (script.shift() ?? {})),
  });
  target = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url?.startsWith('/fails')) response.statusCode = 503;
    response.end(JSON.stringify({ path: request.url, celsius: 21 }));
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const address = target.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  targetUrl = `http://127.0.0.1:${address.port}`;
  app = await startTestApp({
    AI_DEFAULT_BASE_URL: vendor.baseUrl,
    AI_DEFAULT_API_KEY: 'vendor-key',
    AI_OTHER_BASE_URL: vendor.baseUrl,
    AI_OTHER_API_KEY: 'other-key',
  });
});
afterAll(async () => {
  await app.stop();
  await vendor.close();
  target.close();
});
beforeEach(async () => {
  developer = await app.createDeveloper();
  vendor.requests.length = 0;
  script = [];
});
afterEach(() => expect(vendor.inFlight()).toBe(0));

async function rows(sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [developer.id])).rows;
  } finally {
    await client.end();
  }
}

function usageRows() {
  return rows(`select model, outcome, input_tokens::int as input, output_tokens::int as output, steps
    from ai_usage where developer_id = $1 order by id`);
}

function eventRows() {
  return rows('select type, data from outbox_events where developer_id = $1 order by id');
}

function chat(body: Record<string, unknown>, key = developer.key) {
  return app.call('POST', '/v1/ai/chat', { key, body });
}

async function registerWeather(path = '/weather'): Promise<void> {
  const body = {
    name: 'get_weather',
    description: 'Weather at a place.',
    input_schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
    execution: { type: 'http', method: 'GET', url: targetUrl + path },
  };
  const { status } = await app.call('POST', '/v1/tools', { key: developer.key, body });
  expect(status).toBe(201);
}

const CALL_WEATHER = {
  toolCalls: [{ name: 'get_weather', input: { place: 'Hamburg' } }],
  usage: { inputTokens: 50, outputTokens: 7 },
};

/** The `data:` lines of a stream, parsed; fails on any line that is neither data, blank nor a comment. */
function eventsOf(text: unknown): unknown[] {
  const lines = String(text).split('\n');
  const odd = lines.filter((line) => line !== '' && !line.startsWith('data: ') && !line.startsWith(':'));
  expect(odd).toEqual([]);
  return lines.filter((line) => line.startsWith('data: ')).map((line): unknown => JSON.parse(line.slice(6)));
}

describe.each([
  ['Anthropic', DEFAULT_MODEL, 'anthropic'],
  ['OpenAI', 'other:large-235b-a22b', 'openai'],
] as const)('a chat with a tool, over the wire form of %s', (_name, model, protocol) => {
  test('the model calls the tool, and the answer comes back with the usage of both steps', async () => {
    await registerWeather();
    script = [CALL_WEATHER, { text: 'It is 21 degrees.', usage: { inputTokens: 90, outputTokens: 9 } }];
    const { status, body } = await chat({ message: 'How warm is it in Hamburg?', model });
    expect(status).toBe(200);
    expect(body).toEqual({ response: 'It is 21 degrees.', model, usage: { inputTokens: 140, outputTokens: 16 } });
    expect(vendor.requests.map((request) => request.protocol)).toEqual([protocol, protocol]);
    expect(JSON.stringify(vendor.requests[1]?.body)).toContain('celsius');
    await expect.poll(usageRows).toEqual([{ model, outcome: 'finished', input: 140, output: 16, steps: 2 }]);
    await expect.poll(eventRows).toEqual([
      {
        type: 'tool.executed',
        data: {
          toolName: 'get_weather',
          input: { place: 'Hamburg' },
          result: { path: '/weather?place=Hamburg', celsius: 21 },
          elapsed_ms: expect.any(Number),
        },
      },
      { type: 'ai.conversation', data: { model, inputTokens: 140, outputTokens: 16 } },
    ]);
  });

  test('the stream has the exact wire form, fragment by fragment', async () => {
    await registerWeather();
    script = [CALL_WEATHER, { text: ['It is ', '21 ', 'degrees ☀.'], usage: { inputTokens: 90, outputTokens: 9 } }];
    const answer = await app.call('POST', '/v1/ai/chat/stream', {
      key: developer.key,
      body: { message: 'How warm is it in Hamburg?', model },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('connection')).toBe('keep-alive');
    expect(answer.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
    expect(answer.body).toBe(
      [
        'data: {"type":"stream","text":"It is "}',
        'data: {"type":"stream","text":"21 "}',
        'data: {"type":"stream","text":"degrees ☀."}',
        'data: {"type":"done","usage":{"input_tokens":140,"output_tokens":16}}',
        '',
      ].join('\n\n'),
    );
  });

  test('a tool that fails is told to the model, and the chat goes on', async () => {
    await registerWeather('/fails');
    script = [CALL_WEATHER, { text: 'The weather service is away.' }];
    const { body } = await chat({ message: 'How warm?', model });
    expect(pick(body, 'response')).toBe('The weather service is away.');
    expect(JSON.stringify(vendor.requests[1]?.body)).toContain('HTTP 503');
    await expect
      .poll(async () => (await eventRows()).map((event) => event['type']))
      .toEqual(['tool.failed', 'ai.conversation']);
  });

  test('calls that cannot be run are answered to the model', async () => {
    await registerWeather();
    script = [
      {
        toolCalls: [
          { name: 'no_such_tool', input: {} },
          { name: 'get_weather', input: { place: 7 } },
        ],
      },
      { text: 'Sorry.' },
    ];
    expect(pick((await chat({ message: 'Go', model })).body, 'response')).toBe('Sorry.');
    const told = JSON.stringify(vendor.requests[1]?.body);
    expect(told).toContain('There is no tool named');
    expect(told).toContain('input.place must be string');
  });

  test('a model that never stops calling tools is made to answer at step 20', async () => {
    await registerWeather();
    let asked = 0;
    script = () => (++asked === 20 ? { text: 'Enough.' } : CALL_WEATHER);
    const { body } = await chat({ message: 'Loop', model });
    expect(vendor.requests).toHaveLength(20);
    expect(pick(body, 'response')).toBe('Enough.');
    expect(JSON.stringify(vendor.requests[19]?.body)).toMatch(/"tool_choice":("none"|\{"type":"none"\})/);
    await expect.poll(usageRows).toMatchObject([{ outcome: 'finished', steps: 20 }]);
  });
});

describe('which tools are offered', () => {
  function offeredNames(index = 0): string[] {
    const tools = vendor.requests[index]?.body['tools'];
    return Array.isArray(tools) ? tools.map((tool) => pickText(tool, 'name')) : [];
  }

  test('enabled tools of the developer, limited by appContext, and the extra ones of the request', async () => {
    const other = await app.createDeveloper();
    const register = (name: string, key: string, appId?: string) =>
      app.call('POST', '/v1/tools', { key, body: { name, description: 'x', ...(appId && { appId }) } });
    await register('mine', developer.key);
    await register('of_crm', developer.key, 'crm');
    await register('off', developer.key, 'crm');
    await app.call('PUT', '/v1/tools/off', { key: developer.key, body: { enabled: false } });
    await register('foreign', other.key);

    await chat({ message: 'a' });
    await chat({ message: 'b', appContext: 'crm' });
    await chat({ message: 'c', appContext: 'no-such-app' });
    await chat({ message: 'd', appContext: 'crm', tools: [{ name: 'extra', description: 'y' }] });
    expect(offeredNames(0)).toEqual(['mine', 'of_crm']);
    expect(offeredNames(1)).toEqual(['of_crm']);
    expect(offeredNames(2)).toEqual([]);
    expect(offeredNames(3)).toEqual(['of_crm', 'extra']);
  });

  test('an extra tool hides a registered one and runs through the same gate', async () => {
    await registerWeather('/fails');
    script = [CALL_WEATHER, { text: 'ok' }];
    const extra = {
      name: 'get_weather',
      description: 'Better weather.',
      execution: { type: 'http', url: `${targetUrl}/better/{place}` },
    };
    await chat({ message: 'How warm?', tools: [extra] });
    expect(JSON.stringify(vendor.requests[1]?.body)).toContain('/better/Hamburg');
  });

  test.each([
    [[{ name: 'a' }, { name: 'a' }], 'tools[1].name'],
    [[{ description: 'x' }], 'tools[0].name'],
    [[{ name: 'a', execution: { type: 'http' } }], 'tools[0].execution.url'],
    [[{ name: 'a', input_schema: { type: 'string' } }], 'tools[0].input_schema'],
  ])('%j is refused by name', async (tools, field) => {
    const { status, body } = await chat({ message: 'x', tools });
    expect(status).toBe(400);
    expect(pickText(body, 'error', 'message')).toContain(field);
    expect(vendor.requests).toEqual([]);
  });
});

describe('conversations', () => {
  test('turns of the same id are remembered, per developer', async () => {
    const other = await app.createDeveloper();
    script = [{ text: 'Hello Ada.' }, { text: 'You are Ada.' }, { text: 'I do not know.' }];
    await chat({ message: 'I am Ada.', conversationId: 'c-1' });
    await chat({ message: 'Who am I?', conversationId: 'c-1' });
    await chat({ message: 'Who am I?', conversationId: 'c-1' }, other.key);
    expect(vendor.requests[1]?.body['messages']).toEqual([
      { role: 'user', content: expect.anything() },
      { role: 'assistant', content: expect.anything() },
      { role: 'user', content: expect.anything() },
    ]);
    expect(JSON.stringify(vendor.requests[1]?.body)).toContain('Hello Ada.');
    expect(JSON.stringify(vendor.requests[2]?.body)).not.toContain('Ada');
  });

  test('another process knows the conversation on its very next request', async () => {
    const twin = await startTestApp({
      DATABASE_URL: app.databaseUrl,
      AI_DEFAULT_BASE_URL: vendor.baseUrl,
      AI_DEFAULT_API_KEY: 'vendor-key',
    });
    script = [{ text: 'Noted.' }, { text: 'Blue.' }];
    await chat({ message: 'My colour is blue.', conversationId: 'c-2' });
    await twin.call('POST', '/v1/ai/chat', {
      key: developer.key,
      body: { message: 'My colour?', conversationId: 'c-2' },
    });
    expect(JSON.stringify(vendor.requests[1]?.body)).toContain('My colour is blue.');
    await twin.stop();
  });

  test('a failed chat leaves no turns', async () => {
    script = [{ status: 400, message: 'no' }, { text: 'fine' }];
    expect((await chat({ message: 'lost', conversationId: 'c-3' })).status).toBe(500);
    await chat({ message: 'kept', conversationId: 'c-3' });
    expect(JSON.stringify(vendor.requests[1]?.body)).not.toContain('lost');
  });
});

describe('what is refused', () => {
  test.each([
    [{}, 'message is required.'],
    [{ message: '' }, 'message must not be empty.'],
    [{ message: 5 }, 'message must be a string.'],
    [{ message: 'x', model: 'no-such-model' }, DEFAULT_MODEL],
    [{ message: 'x', model: 'nobody:model' }, DEFAULT_MODEL],
  ])('%j is 400', async (body, part) => {
    for (const path of ['/v1/ai/chat', '/v1/ai/chat/stream']) {
      const answer = await app.call('POST', path, { key: developer.key, body });
      expect(answer.status).toBe(400);
      expect(pickText(answer.body, 'error', 'message')).toContain(part);
    }
  });

  test('tier free may use basic models alone; others all', async () => {
    const free = await app.createDeveloper('free');
    const basic = await app.createDeveloper('basic');
    const model = 'neutral-opus-4-20250514';
    expect((await chat({ message: 'x' }, free.key)).status).toBe(200);
    expect(await chat({ message: 'x', model }, free.key)).toMatchObject({
      status: 403,
      body: { error: { code: 'MODEL_NOT_ALLOWED' } },
    });
    expect(await chat({ message: 'x', model }, basic.key)).toMatchObject({ status: 200, body: { model } });
  });

  test('without a vendor key chat and stream are 400 AI_NOT_CONFIGURED', async () => {
    const bare = await startTestApp({ DATABASE_URL: app.databaseUrl });
    for (const path of ['/v1/ai/chat', '/v1/ai/chat/stream']) {
      const answer = await bare.call('POST', path, { key: developer.key, body: { message: 'x' } });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'AI_NOT_CONFIGURED' } } });
    }
    await bare.stop();
  });
});

describe('a vendor that fails', () => {
  test('chat is 500 AI_CALL_FAILED, without the key, and one usage row is left', async () => {
    script = [{ status: 500, message: 'overloaded vendor-key' }];
    const { status, body } = await chat({ message: 'x' });
    expect(status).toBe(500);
    expect(pick(body, 'error', 'code')).toBe('AI_CALL_FAILED');
    expect(JSON.stringify(body)).not.toContain('vendor-key');
    await expect.poll(usageRows).toMatchObject([{ outcome: 'failed' }]);
    expect(await eventRows()).toEqual([]);
  });

  test('a stream that breaks ends with an error event, and what was used is recorded', async () => {
    script = [{ text: ['One ', 'two ', 'three'], breakAfter: { fragments: 2, how: 'cut' } }];
    const answer = await app.call('POST', '/v1/ai/chat/stream', { key: developer.key, body: { message: 'Count' } });
    expect(answer.status).toBe(200);
    expect(eventsOf(answer.body)).toEqual([
      { type: 'stream', text: 'One ' },
      { type: 'stream', text: 'two ' },
      { type: 'error', message: expect.any(String) },
    ]);
    await expect.poll(usageRows).toMatchObject([{ outcome: 'failed', input: expect.any(Number) }]);
    const [row] = await usageRows();
    expect(Number(row?.['input'])).toBeGreaterThan(0);
    expect(Number(row?.['output'])).toBeGreaterThan(0);
  });
});

describe('a client that leaves', () => {
  test.each([
    ['/v1/ai/chat', { hang: true as const }],
    ['/v1/ai/chat/stream', { text: Array.from({ length: 200 }, (_, i) => `word${i} `), paceMs: 20 }],
  ])('%s: the vendor call is ended and metered', async (path, turn) => {
    script = [turn];
    const aborts = vendor.abortedAtMs.length;
    const leaving = new AbortController();
    const asked = vendor.requests.length;
    const call = app.call('POST', path, { key: developer.key, body: { message: 'Talk' }, signal: leaving.signal });
    await vendor.waitForRequests(asked + 1);
    const leftAtMs = performance.now();
    leaving.abort();
    await expect(call).rejects.toThrow(/abort/i);
    await vendor.waitForAborts(aborts + 1);
    expect((vendor.abortedAtMs.at(-1) ?? Infinity) - leftAtMs).toBeLessThan(1000);
    await expect.poll(usageRows).toMatchObject([{ outcome: 'abandoned', steps: 1 }]);
    const [row] = await usageRows();
    expect(Number(row?.['input'])).toBeGreaterThan(0);
  });
});

describe('direct tool calls', () => {
  test('success, and the failures of the contract', async () => {
    await registerWeather();
    const call = (body: unknown) => app.call('POST', '/v1/ai/tool-call', { key: developer.key, body });
    expect(await call({ tool: 'get_weather', input: { place: 'Ulm' } })).toMatchObject({
      status: 200,
      body: { status: 'success', result: { path: '/weather?place=Ulm', celsius: 21 } },
    });
    expect((await call({})).status).toBe(400);
    expect(await call({ tool: 'get_weather', input: {} })).toMatchObject({ status: 400 });
    const missing = await call({ tool: 'absent' });
    expect(missing.status).toBe(404);
    expect(missing.body).toEqual({ error: { message: expect.any(String) } });
    await registerWeather('/fails');
    expect(await call({ tool: 'get_weather', input: { place: 'Ulm' } })).toMatchObject({
      status: 500,
      body: { error: { code: 'TOOL_FAILED' } },
    });
  });
});
