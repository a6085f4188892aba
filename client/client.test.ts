import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readContracts } from '../server/app/reference/read-contracts.ts';
import { CALL_WEATHER, registerWeather, startChatApp, type ChatApp } from '../server/testing/start-chat-app.ts';
import { ROUTES } from '../contract/routes/index.ts';
import { createClient, type TesseraClient } from './index.ts';

let it: ChatApp;
let client: TesseraClient;
beforeAll(async () => {
  it = await startChatApp();
});
afterAll(() => it.stop());
beforeEach(async () => {
  await it.begin();
  client = createClient({ baseUrl: it.app.url, apiKey: it.developer().key });
});

test('every endpoint of the contract has a method', async () => {
  expect(Object.keys(ROUTES).toSorted()).toEqual((await readContracts()).map(({ id }) => id).toSorted());
  for (const [id, { id: own }] of Object.entries(ROUTES)) expect(own).toBe(id);
});

test('tools are registered, read, listed and deleted', async () => {
  const tool = await client.registerTool({ body: { name: 'a b', description: 'x', appId: 'crm' } });
  expect((await client.getTool({ params: { name: 'a b' } }))._id).toBe(tool._id);
  expect((await client.listTools({ query: { appId: 'crm', limit: 1 } })).total).toBe(1);
  expect(await client.deleteTool({ params: { name: 'a b' } })).toEqual({ success: true });
});

test('a refusal is an error with its code, message and request id', async () => {
  await expect(client.getTool({ params: { name: 'absent' } })).rejects.toMatchObject({
    name: 'TesseraError',
    status: 404,
    code: 'NOT_FOUND',
    message: 'There is no tool named "absent".',
    requestId: expect.stringMatching(/^req_/),
  });
});

test('a stream is read event by event', async () => {
  await registerWeather(it);
  it.play([CALL_WEATHER, { text: ['21 ', 'degrees ☀'], usage: { inputTokens: 90, outputTokens: 9 } }]);
  const events = [];
  for await (const event of client.chatStream({ body: { message: 'How warm?' } })) events.push(event);
  expect(events).toEqual([
    { type: 'stream', text: '21 ' },
    { type: 'stream', text: 'degrees ☀' },
    { type: 'done', usage: { input_tokens: 140, output_tokens: 16 } },
  ]);
});

test('a request over the limit is sent again when the service says so', async () => {
  const answers = [
    new Response('{"error":{"message":"wait"}}', { status: 429, headers: { 'retry-after': '0' } }),
    new Response('{"tools":[],"total":0}'),
  ];
  const patient = createClient({
    baseUrl: 'http://service',
    apiKey: 'k',
    fetch: async () => answers.shift() ?? new Response(),
  });
  expect(await patient.listTools({})).toEqual({ tools: [], total: 0 });
});

test('the client needs nothing but the contract', () => {
  for (const file of ['create-client.ts', 'read-events.ts', 'tessera-error.ts']) {
    const imports = readFileSync(new URL(file, import.meta.url), 'utf8').matchAll(/from '([^']+)'/g);
    for (const [, from] of imports) expect(from).toMatch(/^(\.\.\/contract\/|\.\/)/);
  }
});
