// What registered tools add to a chat: none, as many as are all offered, and a thousand, of which the best are chosen
// for each message. One message after the other, in the same run and in turn.
// Usage: node bench/tool-choice.ts [rounds]
import { freePort, startChild } from './lib/child.ts';
import { latencies, type RawRequest } from './lib/http-client.ts';
import { pickText } from '../server/testing/start-test-app.ts';
import { HOST, ROOT, startBenchService } from './lib/service.ts';
import { cell, median, printTable, quantile } from './lib/stats.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const REQUESTS = 300;
const COUNTS = [0, 20, 40, 1000];
const AT_ONCE = 20;

const TOPICS = ['order', 'invoice', 'parcel', 'refund', 'meeting', 'weather', 'ticket', '天气', '快递', '订单'];
const VERBS = ['get', 'list', 'create', 'cancel', 'update', 'find', 'count', 'send', 'check', 'archive'];

const vendorPort = await freePort();
const vendor = await startChild(['bench/lib/vendor.ts'], {
  cwd: ROOT,
  env: { PORT: String(vendorPort) },
  readyUrl: `http://${HOST}:${vendorPort}/`,
});
const service = await startBenchService({
  AI_DEFAULT_PROTOCOL: 'openai',
  AI_DEFAULT_BASE_URL: `http://${HOST}:${vendorPort}/v1`,
  AI_DEFAULT_API_KEY: 'bench',
});

async function send({ host, port, method, path, headers, body }: RawRequest): Promise<unknown> {
  const answer = await fetch(`http://${host}:${port}${path}`, { method, headers, ...(body ? { body } : {}) });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

function tool(index: number): Record<string, unknown> {
  const topic = TOPICS[index % TOPICS.length] ?? '';
  const verb = VERBS[Math.floor(index / TOPICS.length) % VERBS.length] ?? '';
  return {
    name: `${verb}_thing_${index}`,
    description: `Use it to ${verb} the ${topic} number ${index} of a customer, by its id, with all of its details.`,
    input_schema: { type: 'object', properties: { id: { type: 'string', description: 'The id.' } }, required: ['id'] },
  };
}

/** A developer with so many tools, and the chat that is measured. */
async function chatOf(count: number): Promise<RawRequest> {
  const created = service.request('POST', '/v1/admin/developers', { name: `with ${count}`, tier: 'enterprise' });
  const key = pickText(await send(created), 'apiKey', 'key');
  const ask = (path: string, body: unknown): RawRequest => {
    const request = service.request('POST', path, body);
    return { ...request, headers: { ...request.headers, 'x-api-key': key } };
  };
  for (let from = 0; from < count; from += AT_ONCE) {
    const part = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => ask('/v1/tools', tool(from + i)));
    await Promise.all(part.map(send));
  }
  const message = 'Where is the parcel of order 4711, and was the refund of its invoice sent? 快递在哪里？';
  return ask('/v1/ai/chat', { message });
}

const chats = new Map<number, RawRequest>();
for (const count of COUNTS) chats.set(count, await chatOf(count));

const samples = new Map<number, number[]>(COUNTS.map((count) => [count, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [count, request] of chats) {
    samples.get(count)?.push(...(await latencies(request, { warmUp: 50, count: REQUESTS })));
  }
}

const none = median(samples.get(0) ?? []);
printTable(
  `chats one after the other, ${ROUNDS} interleaved rounds`,
  ['registered tools', 'p50 ms', 'p99 ms', 'added ms'],
  Array.from(samples, ([count, all]) => {
    const p50 = median(all);
    return [String(count), cell(p50), cell(quantile(all, 0.99)), cell(p50 - none)];
  }),
);
await service.stop();
await vendor.stop();
