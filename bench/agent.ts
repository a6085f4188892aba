// What a direct tool call adds: of an http tool over calling its target directly, and of a handler tool on a desktop
// agent over nothing, as its handler takes no time; with the agent at the process that is called, and at another one.
// Usage: node bench/agent.ts [rounds]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort, startChild } from './lib/child.ts';
import { latencies, RawConnection, requestBytes, type RawRequest } from './lib/http-client.ts';
import { HOST, ROOT, startBenchService, type BenchService } from './lib/service.ts';
import { cell, median, printTable, quantile } from './lib/stats.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const REQUESTS = 400;

async function send(request: RawRequest): Promise<void> {
  const connection = await RawConnection.open(request);
  await connection.send(requestBytes(request));
  connection.close();
}

/** Starts an agent that serves `echo`, and waits until it is connected. */
async function startAgent(service: BenchService): Promise<() => Promise<void>> {
  const url = `http://${HOST}:${service.port}`;
  const args = ['agent/main.ts', 'agent', '--url', url, '--handlers', 'bench/lib/handlers', '--register'];
  const agent = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, TESSERA_API_KEY: service.request('GET', '/').headers['x-api-key'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const part of agent.stdout.iterator({ destroyOnReturn: false })) {
    output += String(part);
    if (output.includes('connected to')) break;
  }
  agent.stdout.resume();
  return async () => {
    const exited = once(agent, 'exit');
    agent.kill('SIGKILL');
    await exited;
  };
}

const targetPort = await freePort();
const target = await startChild(['bench/lib/bare-fastify.ts'], {
  cwd: ROOT,
  env: { PORT: String(targetPort), ANSWER: '{"state":"shipped"}' },
  readyUrl: `http://${HOST}:${targetPort}/`,
});
const service = await startBenchService();
const twin = await startBenchService({ DATABASE_URL: service.databaseUrl });

const execution = { type: 'http', method: 'GET', url: `http://${HOST}:${targetPort}/orders/{id}` };
await send(service.request('POST', '/v1/tools', { name: 'get_order', description: 'An order.', execution }));
const echo = { tool: 'echo', input: { id: '4711' } };
const contenders: Record<string, { request: RawRequest; agentAt?: BenchService }> = {
  'target, directly': { request: { host: HOST, port: targetPort, method: 'GET', path: '/orders/4711', headers: {} } },
  'http tool': { request: service.request('POST', '/v1/ai/tool-call', { tool: 'get_order', input: { id: '4711' } }) },
  'handler, agent here': { request: service.request('POST', '/v1/ai/tool-call', echo), agentAt: service },
  'handler, agent elsewhere': { request: service.request('POST', '/v1/ai/tool-call', echo), agentAt: twin },
};

const samples: Record<string, number[]> = {};
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, { request, agentAt }] of Object.entries(contenders)) {
    const stopAgent = agentAt ? await startAgent(agentAt) : undefined;
    const measured = await latencies(request, { warmUp: 100, count: REQUESTS });
    (samples[name] ??= []).push(...measured);
    await stopAgent?.();
  }
}

const direct = median(samples['target, directly'] ?? []);
printTable(
  `direct tool calls one after the other, ${ROUNDS} interleaved rounds`,
  ['', 'p50 ms', 'p99 ms', 'added ms'],
  Object.entries(contenders).map(([name, { agentAt }]) => {
    const all = samples[name] ?? [];
    const p50 = median(all);
    return [name, cell(p50), cell(quantile(all, 0.99)), cell(agentAt ? p50 : p50 - direct)];
  }),
);
await twin.stop();
await Promise.all([service.stop(), target.stop()]);
