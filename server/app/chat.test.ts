import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pick, pickText } from '../testing/start-test-app.ts';
import { CALL_WEATHER, DEFAULT_MODEL, registerWeather, startChatApp, type ChatApp } from '../testing/start-chat-app.ts';

let it: ChatApp;
beforeAll(async () => {
  it = await startChatApp();
});
afterAll(() => it.stop());
beforeEach(() => it.begin());

function offeredNames(index = 0): string[] {
  const tools = it.vendor.requests[index]?.body['tools'];
  return Array.isArray(tools) ? tools.map((tool) => pickText(tool, 'name')) : [];
}

describe.each([
  ['Anthropic', DEFAULT_MODEL, 'anthropic'],
  ['OpenAI', 'other:large-235b-a22b', 'openai'],
] as const)('a chat with a tool, over the wire form of %s', (_name, model, protocol) => {
  test('the model calls the tool, and the answer comes back with the usage of both steps', async () => {
    await registerWeather(it);
    it.play([CALL_WEATHER, { text: 'It is 21 degrees.', usage: { inputTokens: 90, outputTokens: 9 } }]);
    const { status, body } = await it.chat({ message: 'How warm is it in Hamburg?', model });
    expect(status).toBe(200);
    expect(body).toEqual({ response: 'It is 21 degrees.', model, usage: { inputTokens: 140, outputTokens: 16 } });
    expect(it.vendor.requests.map((request) => request.protocol)).toEqual([protocol, protocol]);
    expect(JSON.stringify(it.vendor.requests[1]?.body)).toContain('celsius');
    await expect.poll(it.usageRows).toEqual([{ model, outcome: 'finished', input: 140, output: 16, steps: 2 }]);
    await expect.poll(it.eventRows).toEqual([
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
    await registerWeather(it);
    it.play([CALL_WEATHER, { text: ['It is ', '21 ', 'degrees ☀.'], usage: { inputTokens: 90, outputTokens: 9 } }]);
    const answer = await it.app.call('POST', '/v1/ai/chat/stream', {
      key: it.developer().key,
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
    await registerWeather(it, '/fails');
    it.play([CALL_WEATHER, { text: 'The weather service is away.' }]);
    const { body } = await it.chat({ message: 'How warm?', model });
    expect(pick(body, 'response')).toBe('The weather service is away.');
    expect(JSON.stringify(it.vendor.requests[1]?.body)).toContain('HTTP 503');
    await expect
      .poll(async () => (await it.eventRows()).map((event) => event['type']))
      .toEqual(['tool.failed', 'ai.conversation']);
  });

  test('calls that cannot be run are answered to the model', async () => {
    await registerWeather(it);
    it.play([
      {
        toolCalls: [
          { name: 'no_such_tool', input: {} },
          { name: 'get_weather', input: { place: 7 } },
        ],
      },
      { text: 'Sorry.' },
    ]);
    expect(pick((await it.chat({ message: 'Go', model })).body, 'response')).toBe('Sorry.');
    const told = JSON.stringify(it.vendor.requests[1]?.body);
    expect(told).toContain('There is no tool named');
    expect(told).toContain('input.place must be a string');
  });

  test('a model that never stops calling tools is made to answer at step 20', async () => {
    await registerWeather(it);
    let asked = 0;
    it.play(() => (++asked === 20 ? { text: 'Enough.' } : CALL_WEATHER));
    const { body } = await it.chat({ message: 'Loop', model });
    expect(it.vendor.requests).toHaveLength(20);
    expect(pick(body, 'response')).toBe('Enough.');
    expect(JSON.stringify(it.vendor.requests[19]?.body)).toMatch(/"tool_choice":("none"|\{"type":"none"\})/);
    await expect.poll(it.usageRows).toMatchObject([{ outcome: 'finished', steps: 20 }]);
  });
});

describe('which tools are offered', () => {
  test('enabled tools of the developer, limited by appContext, and the extra ones of the request', async () => {
    const other = await it.app.createDeveloper();
    const register = (name: string, key: string, appId?: string) =>
      it.app.call('POST', '/v1/tools', { key, body: { name, description: 'x', ...(appId && { appId }) } });
    await register('mine', it.developer().key);
    await register('of_crm', it.developer().key, 'crm');
    await register('off', it.developer().key, 'crm');
    await it.app.call('PUT', '/v1/tools/off', { key: it.developer().key, body: { enabled: false } });
    await register('foreign', other.key);

    await it.chat({ message: 'a' });
    await it.chat({ message: 'b', appContext: 'crm' });
    await it.chat({ message: 'c', appContext: 'no-such-app' });
    await it.chat({ message: 'd', appContext: 'crm', tools: [{ name: 'extra', description: 'y' }] });
    expect(offeredNames(0)).toEqual(['mine', 'of_crm']);
    expect(offeredNames(1)).toEqual(['of_crm']);
    expect(offeredNames(2)).toEqual([]);
    expect(offeredNames(3)).toEqual(['of_crm', 'extra']);
  });

  test('an extra tool hides a registered one and runs through the same gate', async () => {
    await registerWeather(it, '/fails');
    it.play([CALL_WEATHER, { text: 'ok' }]);
    const extra = {
      name: 'get_weather',
      description: 'Better weather.',
      execution: { type: 'http', url: `${it.targetUrl}/better/{place}` },
    };
    await it.chat({ message: 'How warm?', tools: [extra] });
    expect(JSON.stringify(it.vendor.requests[1]?.body)).toContain('/better/Hamburg');
  });

  test.each([
    [[{ name: 'a' }, { name: 'a' }], 'tools[1].name'],
    [[{ description: 'x' }], 'tools[0].name'],
    [[{ name: 'a', execution: { type: 'http' } }], 'tools[0].execution.url'],
    [[{ name: 'a', input_schema: { type: 'string' } }], 'tools[0].input_schema'],
  ])('%j is refused by name', async (tools, field) => {
    const { status, body } = await it.chat({ message: 'x', tools });
    expect(status).toBe(400);
    expect(pickText(body, 'error', 'message')).toContain(field);
    expect(it.vendor.requests).toEqual([]);
  });
});
