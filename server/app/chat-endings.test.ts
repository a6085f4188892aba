import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pick, pickText, startTestApp } from '../testing/start-test-app.ts';
import { DEFAULT_MODEL, registerWeather, startChatApp, type ChatApp } from '../testing/start-chat-app.ts';

let it: ChatApp;
beforeAll(async () => {
  it = await startChatApp();
});
afterAll(() => it.stop());
beforeEach(() => it.begin());

/** The `data:` lines of a stream, parsed; fails on any line that is neither data, blank nor a comment. */
function eventsOf(text: unknown): unknown[] {
  const lines = String(text).split('\n');
  const odd = lines.filter((line) => line !== '' && !line.startsWith('data: ') && !line.startsWith(':'));
  expect(odd).toEqual([]);
  return lines.filter((line) => line.startsWith('data: ')).map((line): unknown => JSON.parse(line.slice(6)));
}

describe('conversations', () => {
  test('turns of the same id are remembered, per developer', async () => {
    const other = await it.app.createDeveloper();
    it.play([{ text: 'Hello Ada.' }, { text: 'You are Ada.' }, { text: 'I do not know.' }]);
    await it.chat({ message: 'I am Ada.', conversationId: 'c-1' });
    await it.chat({ message: 'Who am I?', conversationId: 'c-1' });
    await it.chat({ message: 'Who am I?', conversationId: 'c-1' }, other.key);
    expect(it.vendor.requests[1]?.body['messages']).toEqual([
      { role: 'user', content: expect.anything() },
      { role: 'assistant', content: expect.anything() },
      { role: 'user', content: expect.anything() },
    ]);
    expect(JSON.stringify(it.vendor.requests[1]?.body)).toContain('Hello Ada.');
    expect(JSON.stringify(it.vendor.requests[2]?.body)).not.toContain('Ada');
  });

  test('another process knows the conversation on its very next request', async () => {
    const twin = await startTestApp({
      DATABASE_URL: it.app.databaseUrl,
      ...it.vendorEnv,
    });
    it.play([{ text: 'Noted.' }, { text: 'Blue.' }]);
    await it.chat({ message: 'My colour is blue.', conversationId: 'c-2' });
    await twin.call('POST', '/v1/ai/chat', {
      key: it.developer().key,
      body: { message: 'My colour?', conversationId: 'c-2' },
    });
    expect(JSON.stringify(it.vendor.requests[1]?.body)).toContain('My colour is blue.');
    await twin.stop();
  });

  test('a failed chat leaves no turns', async () => {
    it.play([{ status: 400, message: 'no' }, { text: 'fine' }]);
    expect((await it.chat({ message: 'lost', conversationId: 'c-3' })).status).toBe(500);
    await it.chat({ message: 'kept', conversationId: 'c-3' });
    expect(JSON.stringify(it.vendor.requests[1]?.body)).not.toContain('lost');
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
      const answer = await it.app.call('POST', path, { key: it.developer().key, body });
      expect(answer.status).toBe(400);
      expect(pickText(answer.body, 'error', 'message')).toContain(part);
    }
  });

  test('tier free may use basic models alone; others all', async () => {
    const free = await it.app.createDeveloper('free');
    const basic = await it.app.createDeveloper('basic');
    const model = 'neutral-opus-4-20250514';
    expect((await it.chat({ message: 'x' }, free.key)).status).toBe(200);
    expect(await it.chat({ message: 'x', model }, free.key)).toMatchObject({
      status: 403,
      body: { error: { code: 'MODEL_NOT_ALLOWED' } },
    });
    expect(await it.chat({ message: 'x', model }, basic.key)).toMatchObject({ status: 200, body: { model } });
  });

  test('without a vendor key chat and stream are 400 AI_NOT_CONFIGURED', async () => {
    const bare = await startTestApp({ DATABASE_URL: it.app.databaseUrl });
    for (const path of ['/v1/ai/chat', '/v1/ai/chat/stream']) {
      const answer = await bare.call('POST', path, { key: it.developer().key, body: { message: 'x' } });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'AI_NOT_CONFIGURED' } } });
    }
    await bare.stop();
  });
});

describe('a vendor that fails', () => {
  test('chat is 500 AI_CALL_FAILED, without the key, and one usage row is left', async () => {
    it.play([{ status: 500, message: 'overloaded vendor-key' }]);
    const { status, body } = await it.chat({ message: 'x' });
    expect(status).toBe(500);
    expect(pick(body, 'error', 'code')).toBe('AI_CALL_FAILED');
    expect(JSON.stringify(body)).not.toContain('vendor-key');
    await expect.poll(it.usageRows).toMatchObject([{ outcome: 'failed' }]);
    expect(await it.eventRows()).toEqual([]);
  });

  test('a stream that breaks ends with an error event, and what was used is recorded', async () => {
    it.play([{ text: ['One ', 'two ', 'three'], breakAfter: { fragments: 2, how: 'cut' } }]);
    const answer = await it.app.call('POST', '/v1/ai/chat/stream', {
      key: it.developer().key,
      body: { message: 'Count' },
    });
    expect(answer.status).toBe(200);
    expect(eventsOf(answer.body)).toEqual([
      { type: 'stream', text: 'One ' },
      { type: 'stream', text: 'two ' },
      { type: 'error', message: expect.any(String) },
    ]);
    await expect.poll(it.usageRows).toMatchObject([{ outcome: 'failed', input: expect.any(Number) }]);
    const [row] = await it.usageRows();
    expect(Number(row?.['input'])).toBeGreaterThan(0);
    expect(Number(row?.['output'])).toBeGreaterThan(0);
  });
});

describe('a client that leaves', () => {
  test.each([
    ['/v1/ai/chat', { hang: true as const }],
    ['/v1/ai/chat/stream', { text: Array.from({ length: 200 }, (_, i) => `word${i} `), paceMs: 20 }],
  ])('%s: the vendor call is ended and metered', async (path, turn) => {
    it.play([turn]);
    const aborts = it.vendor.abortedAtMs.length;
    const leaving = new AbortController();
    const asked = it.vendor.requests.length;
    const call = it.app.call('POST', path, {
      key: it.developer().key,
      body: { message: 'Talk' },
      signal: leaving.signal,
    });
    await it.vendor.waitForRequests(asked + 1);
    const leftAtMs = performance.now();
    leaving.abort();
    await expect(call).rejects.toThrow(/abort/i);
    await it.vendor.waitForAborts(aborts + 1);
    expect((it.vendor.abortedAtMs.at(-1) ?? Infinity) - leftAtMs).toBeLessThan(1000);
    await expect.poll(it.usageRows).toMatchObject([{ outcome: 'abandoned', steps: 1 }]);
    const [row] = await it.usageRows();
    expect(Number(row?.['input'])).toBeGreaterThan(0);
  });
});

describe('direct tool calls', () => {
  test('success, and the failures of the contract', async () => {
    await registerWeather(it);
    const call = (body: unknown) => it.app.call('POST', '/v1/ai/tool-call', { key: it.developer().key, body });
    expect(await call({ tool: 'get_weather', input: { place: 'Ulm' } })).toMatchObject({
      status: 200,
      body: { status: 'success', result: { path: '/weather?place=Ulm', celsius: 21 } },
    });
    expect((await call({})).status).toBe(400);
    expect(await call({ tool: 'get_weather', input: {} })).toMatchObject({ status: 400 });
    const missing = await call({ tool: 'absent' });
    expect(missing.status).toBe(404);
    expect(missing.body).toEqual({ error: { message: expect.any(String) } });
    await registerWeather(it, '/fails');
    expect(await call({ tool: 'get_weather', input: { place: 'Ulm' } })).toMatchObject({
      status: 500,
      body: { error: { code: 'TOOL_FAILED' } },
    });
  });
});
