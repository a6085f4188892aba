import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pick, pickText, startTestApp } from '../testing/start-test-app.ts';
import { DEFAULT_MODEL, startChatApp, type ChatApp } from '../testing/start-chat-app.ts';

let it: ChatApp;
let openAi: Awaited<ReturnType<typeof startTestApp>>;
beforeAll(async () => {
  it = await startChatApp();
  openAi = await startTestApp({
    DATABASE_URL: it.app.databaseUrl,
    ...it.vendorEnv,
    AI_DEFAULT_PROTOCOL: 'openai',
    AI_ANALYZE_MAX_BYTES: '1000',
  });
});
afterAll(async () => {
  await openAi.stop();
  await it.stop();
});
beforeEach(() => it.begin());

function analyze(body: unknown, app = it.app, key = it.developer().key) {
  return app.call('POST', '/v1/ai/analyze', { key, body });
}

/** All that the vendor was told in one of its requests. */
function told(index = 0): string {
  const { messages, system } = it.vendor.requests[index]?.body ?? {};
  return JSON.stringify([system, messages]).replaceAll('\\"', '"').replaceAll('\\\\', '\\');
}

const SALES = [
  { 月份: '2026-01', 收入: 1200 },
  { 月份: '2026-02', 收入: 800 },
];

describe.each(['anthropic', 'openai'] as const)('an analysis over the wire form of %s', (protocol) => {
  const app = () => (protocol === 'anthropic' ? it.app : openAi);

  test('goes to the default model with the data and its profile, and leaves one usage row and no event', async () => {
    it.play([{ text: '一月最好。', usage: { inputTokens: 100, outputTokens: 5 } }]);
    const { status, body } = await analyze({ data: SALES, prompt: '哪个月最好？' }, app());
    expect(status).toBe(200);
    expect(body).toEqual({
      analysis: '一月最好。',
      model: DEFAULT_MODEL,
      usage: { inputTokens: 100, outputTokens: 5 },
    });
    expect(it.vendor.requests).toMatchObject([{ protocol, body: { max_tokens: 8192 } }]);
    expect(told()).toContain('哪个月最好？');
    expect(told()).toContain('"收入": integer; 2 present; 0 missing; 2 distinct; min 800; max 1200; mean 1000');
    expect(told()).toContain('{"月份":"2026-02","收入":800}');
    await expect
      .poll(it.usageRows)
      .toEqual([{ model: DEFAULT_MODEL, outcome: 'finished', input: 100, output: 5, steps: 1 }]);
    expect(await it.eventRows()).toEqual([]);
  });

  test('an answer in a code fence is unwrapped, after one call', async () => {
    it.play([{ text: '```json\n{"best": "2026-01"}\n```' }]);
    const { body } = await analyze({ data: SALES, prompt: 'Best month?', outputFormat: 'json' }, app());
    expect(pick(body, 'analysis')).toBe('{"best": "2026-01"}');
    expect(it.vendor.requests).toHaveLength(1);
    expect(JSON.stringify(it.vendor.requests[0]?.body).includes('json_object')).toBe(protocol === 'openai');
  });

  test('an answer that is not JSON is repaired once, and the usage is that of both calls', async () => {
    it.play([
      { text: 'The best is {"best": ', usage: { inputTokens: 100, outputTokens: 5 } },
      { text: '{"best": 1}', usage: { inputTokens: 150, outputTokens: 6 } },
    ]);
    const { body } = await analyze({ data: SALES, prompt: 'Best month?', outputFormat: 'json' }, app());
    expect(body).toMatchObject({ analysis: '{"best": 1}', usage: { inputTokens: 250, outputTokens: 11 } });
    expect(told(1)).toContain('The best is {"best": ');
    expect(told(1)).toContain('That is not valid JSON: ');
    await expect
      .poll(it.usageRows)
      .toEqual([{ model: DEFAULT_MODEL, outcome: 'finished', input: 250, output: 11, steps: 2 }]);
  });

  test('two answers that are not JSON are an error that says so', async () => {
    it.play([
      { text: '{"a": 1', stopReason: protocol === 'openai' ? 'length' : 'max_tokens' },
      { text: 'Sorry.', usage: { inputTokens: 9, outputTokens: 1 } },
    ]);
    const { status, body } = await analyze({ data: SALES, prompt: 'Best month?', outputFormat: 'json' }, app());
    expect(status).toBe(500);
    expect(pick(body, 'error', 'code')).toBe('AI_CALL_FAILED');
    expect(pickText(body, 'error', 'message')).toContain('asked for JSON twice and gave none that parses');
    expect(told(1)).toContain('It was cut off at the length limit');
    await expect.poll(it.usageRows).toMatchObject([{ outcome: 'failed', steps: 2 }]);
  });

  test('a vendor that fails is an error, with one usage row', async () => {
    it.play([{ status: 400, message: 'no' }]);
    const { status, body } = await analyze({ data: 'x', prompt: 'y' }, app());
    expect([status, pick(body, 'error', 'code')]).toEqual([500, 'AI_CALL_FAILED']);
    await expect.poll(it.usageRows).toMatchObject([{ outcome: 'failed', steps: 1 }]);
  });
});

describe('the data', () => {
  test.each([
    [
      'an object',
      { title: 'May', sales: SALES },
      ['"title": "May"', 'member="sales"', '{"月份":"2026-01","收入":1200}'],
    ],
    [
      'CSV',
      'city,"t, °C"\nBern,7.5\nOslo,',
      ['2 rows, 2 columns', '"t, °C": number; 1 present; 1 missing', 'Bern,7.5'],
    ],
    ['text', 'It rained.', ['It rained.']],
    ['a list of figures', [1, 2, 3], ['1\\n2\\n3']],
  ])('may be %s', async (_name, data, parts) => {
    const { status } = await analyze({ data, prompt: 'What?', outputFormat: 'markdown' });
    expect(status).toBe(200);
    for (const part of parts) expect(told()).toContain(part);
    expect(told()).toContain('Answer in Markdown.');
  });

  test('that is too large is cut between rows, and the model is told, with a profile of all rows', async () => {
    const data = Array.from({ length: 5000 }, (_, n) => ({ n, name: `行 ${n}` }));
    expect((await analyze({ data, prompt: 'Sum?' }, openAi)).status).toBe(200);
    expect(told()).toContain('of 5000 rows are shown');
    expect(told()).toContain('"n": integer; 5000 present; 0 missing; 5000 distinct; min 0; max 4999; mean 2499.5');
    expect(it.vendor.requests[0]?.length).toBeLessThan(5000);
  });

  test.each([
    [{ prompt: 'x' }, 'data'],
    [{ data: '', prompt: 'x' }, 'data'],
    [{ data: 7, prompt: 'x' }, 'data'],
    [{ data: null, prompt: 'x' }, 'data'],
    [{ data: {} }, 'prompt'],
    [{ data: {}, prompt: '' }, 'prompt'],
    [{ data: {}, prompt: 'x', outputFormat: 'xml' }, 'outputFormat'],
  ])('%j is refused by name', async (body, field) => {
    const { status, body: answer } = await analyze(body);
    expect(status).toBe(400);
    expect(pickText(answer, 'error', 'message')).toContain(field);
    expect(it.vendor.requests).toEqual([]);
    expect(await it.usageRows()).toEqual([]);
  });
});

test('a key that may only read is enough, and no key is not', async () => {
  const { key } = await it.app.createKey(it.developer().key, ['read']);
  expect((await analyze({ data: 'x', prompt: 'y' }, it.app, key)).status).toBe(200);
  expect((await analyze({ data: 'x', prompt: 'y' }, it.app, 'wrong')).status).toBe(401);
});

test('without a vendor key the answer is 400 AI_NOT_CONFIGURED', async () => {
  const app = await startTestApp({ DATABASE_URL: it.app.databaseUrl });
  const { status, body } = await analyze({ data: 'x', prompt: 'y' }, app);
  expect([status, pick(body, 'error', 'code')]).toEqual([400, 'AI_NOT_CONFIGURED']);
  await app.stop();
});

test('a client that leaves stops the model call, and one usage row tells of it', async () => {
  it.play([{ hang: true }]);
  const leaving = new AbortController();
  const call = it.app.call('POST', '/v1/ai/analyze', {
    key: it.developer().key,
    body: { data: SALES, prompt: 'Best?' },
    signal: leaving.signal,
  });
  await it.vendor.waitForRequests(1);
  leaving.abort();
  await expect(call).rejects.toThrow('aborted');
  await it.vendor.waitForAborts(1);
  await expect.poll(it.usageRows).toMatchObject([{ outcome: 'abandoned', steps: 1 }]);
});
