import { freePort, startChild } from './lib/child.ts';
import { latencies, RawConnection, requestBytes } from './lib/http-client.ts';
import { HOST, ROOT, startBenchService } from './lib/service.ts';
import { median } from './lib/stats.ts';
const targetPort = await freePort();
const target = await startChild(['bench/lib/bare-fastify.ts'], { cwd: ROOT, env: { PORT: String(targetPort), ANSWER: '{"state":"shipped"}' }, readyUrl: `http://${HOST}:${targetPort}/` });
const services: Record<string, any> = { all: await startBenchService(), api: await startBenchService({ ROLE: 'api' }) };
const execution = { type: 'http', method: 'GET', url: `http://${HOST}:${targetPort}/orders/{id}` };
const out: Record<string, number[]> = {};
for (const s of Object.values(services)) {
  const r = s.request('POST', '/v1/tools', { name: 'get_order', description: 'An order.', execution });
  const c = await RawConnection.open(r); await c.send(requestBytes(r)); c.close();
}
for (let round = 0; round < 4; round++) {
  const add = async (n: string, r: any) => (out[n] ??= []).push(...(await latencies(r, { warmUp: 100, count: 400 })));
  await add('direct', { host: HOST, port: targetPort, method: 'GET', path: '/orders/4711', headers: {} });
  for (const [k, s] of Object.entries(services)) {
    await add(k + ' get', s.request('GET', '/v1/tools/get_order'));
    await add(k + ' call', s.request('POST', '/v1/ai/tool-call', { tool: 'get_order', input: { id: '4711' } }));
  }
}
for (const [k, v] of Object.entries(out)) console.log(k.padEnd(14), median(v).toFixed(3));
for (const s of Object.values(services)) await s.stop();
await target.stop();
