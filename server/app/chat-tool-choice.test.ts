import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { pickText } from '../testing/start-test-app.ts';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';

let it: ChatApp;
beforeAll(async () => {
  it = await startChatApp();
});
afterAll(() => it.stop());
beforeEach(() => it.begin());

const TOOLS = [
  { name: 'getOrderStatus', description: 'Tells where an order is.' },
  { name: 'refund_payment', description: 'Pays back what a customer paid.' },
  { name: 'book_room', description: 'Reserves a meeting room for a day.' },
  { name: 'tianqi', description: '查询一个城市的天气，包括气温和降雨。' },
  { name: 'kuaidi', description: '查询快递包裹现在到了哪里。' },
  { name: 'translate', description: 'Translates a text into another language.' },
];

/** Registers the tools above among others that have nothing to do with anything, so that there are `count`. */
async function registerAmong(count: number): Promise<void> {
  const others = Array.from({ length: count - TOOLS.length }, (_, index) => ({
    name: `filler_${index}`,
    description: `Does the unrelated thing ${index} of the machine hall.`,
  }));
  const { key } = it.developer();
  const answers = await Promise.all(
    [...others, ...TOOLS].map((body) => it.app.call('POST', '/v1/tools', { key, body })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
}

async function offeredFor(body: Record<string, unknown>): Promise<string[]> {
  const index = it.vendor.requests.length;
  expect((await it.chat(body)).status).toBe(200);
  const tools = it.vendor.requests[index]?.body['tools'];
  return Array.isArray(tools) ? tools.map((tool) => pickText(tool, 'name')) : [];
}

const ANSWER = { text: 'Done.' };

test('up to the bound a chat is offered all tools', async () => {
  await registerAmong(40);
  it.play([ANSWER]);
  expect(await offeredFor({ message: 'hello' })).toHaveLength(40);
});

test.each([
  ['What is the status of order 4711?', 'getOrderStatus'],
  ['The customer wants the payment refunded.', 'refund_payment'],
  ['We meet on Friday: reserve meeting rooms', 'book_room'],
  ['上海明天的天气怎么样？', 'tianqi'],
  ['我的包裹到哪里了', 'kuaidi'],
])('beyond it, for %j, the best, %s among them', async (message, wanted) => {
  await registerAmong(60);
  it.play([ANSWER]);
  const offered = await offeredFor({ message });
  expect(offered).toHaveLength(20);
  expect(offered).toContain(wanted);
});

test('what was said before counts, and less', async () => {
  await registerAmong(60);
  it.play([ANSWER, ANSWER]);
  const conversationId = 'c1';
  await it.chat({ message: 'Where is order 4711?', conversationId });
  const offered = await offeredFor({ message: 'And please refund it', conversationId });
  expect(offered).toEqual(expect.arrayContaining(['getOrderStatus', 'refund_payment']));
});

test("the request's own tools are offered before registered ones, and hide those of their names", async () => {
  await registerAmong(60);
  it.play([ANSWER]);
  const own = ['translate', 'x', 'y'].map((name) => ({ name, description: 'Of the request.' }));
  const offered = await offeredFor({ message: 'Translate the status of the order', tools: own });
  expect(offered).toHaveLength(20);
  expect(offered.slice(-3)).toEqual(['translate', 'x', 'y']);
  expect(offered).toContain('getOrderStatus');
});

test('too many tools of the request are chosen from as well', async () => {
  it.play([ANSWER]);
  const own = Array.from({ length: 50 }, (_, index) => ({
    name: `own_${index}`,
    description: `Thing number ${index}`,
  }));
  const offered = await offeredFor({ message: 'use own 37', tools: own });
  expect(offered).toHaveLength(20);
  expect(offered).toContain('own_37');
});

test('a new tool, and a changed description, count from the next chat on', async () => {
  await registerAmong(60);
  it.play([ANSWER, ANSWER]);
  const { key } = it.developer();
  const message = 'water the orchids';
  await it.chat({ message });
  const body = { description: 'Waters orchids and other plants.' };
  expect((await it.app.call('PUT', '/v1/tools/filler_50', { key, body })).status).toBe(200);
  expect(await offeredFor({ message })).toContain('filler_50');
});

test('a tool that was not offered is not run', async () => {
  await registerAmong(60);
  it.play([{ toolCalls: [{ id: 'c1', name: 'refund_payment', input: {} }] }, ANSWER]);
  expect((await it.chat({ message: '天气' })).status).toBe(200);
  expect(JSON.stringify(it.vendor.requests[1]?.body)).toContain('There is no tool named');
  expect(await it.eventRows()).not.toContainEqual(expect.objectContaining({ type: 'tool.executed' }));
});
