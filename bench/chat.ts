// What a chat through the service costs over calling the vendor directly, beside a bare node:http pipe and Portkey's
// gateway, all in one run and in turn. Concurrency 1: added latency. Concurrency 32: requests per second.
// Usage: node bench/chat.ts [rounds]
import { freePort, startChild } from './lib/child.ts';
import { latencies, type RawRequest } from './lib/http-client.ts';
import { startPortkey } from './lib/portkey.ts';
import { HOST, ROOT, startBenchService } from './lib/service.ts';
import { cell, median, printTable } from './lib/stats.ts';
import { load } from './lib/wrk.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const LATENCY_REQUESTS = 400;
const LOAD_SECONDS = 3;
const CONNECTIONS = 32;

const vendorPort = await freePort();
const vendorUrl = `http://${HOST}:${vendorPort}/v1`;
const vendor = await startChild(['bench/lib/vendor.ts'], {
  cwd: ROOT,
  env: { PORT: String(vendorPort) },
  readyUrl: `http://${HOST}:${vendorPort}/`,
});
const pipePort = await freePort();
const pipe = await startChild(['bench/lib/pipe.ts'], {
  cwd: ROOT,
  env: { PORT: String(pipePort), UPSTREAM_PORT: String(vendorPort) },
  readyUrl: `http://${HOST}:${pipePort}/`,
});
const portkey = await startPortkey();
const service = await startBenchService({
  AI_DEFAULT_PROTOCOL: 'openai',
  AI_DEFAULT_BASE_URL: vendorUrl,
  AI_DEFAULT_API_KEY: 'bench',
});

const question = { model: 'bench', messages: [{ role: 'user', content: 'Where is order 4711?' }] };
const json = { 'content-type': 'application/json', authorization: 'Bearer bench' };

function completion(port: number, headers: Record<string, string>): RawRequest {
  return { host: HOST, port, method: 'POST', path: '/v1/chat/completions', headers, body: JSON.stringify(question) };
}

const contenders: Record<string, RawRequest> = {
  direct: completion(vendorPort, json),
  pipe: completion(pipePort, json),
  tessera: service.request('POST', '/v1/ai/chat', { message: 'Where is order 4711?' }),
  portkey: completion(portkey.port, {
    ...json,
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': vendorUrl,
  }),
};

const p50: Record<string, number[]> = {};
const rate: Record<string, number[]> = {};
let failures = 0;
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, request] of Object.entries(contenders)) {
    const samples = await latencies(request, { warmUp: 200, count: LATENCY_REQUESTS });
    (p50[name] ??= []).push(median(samples));
  }
  for (const [name, request] of Object.entries(contenders)) {
    const result = await load(request, { connections: CONNECTIONS, seconds: LOAD_SECONDS });
    (rate[name] ??= []).push(result.requestsPerSecond);
    failures += result.failures;
  }
}

const direct = median(p50['direct'] ?? []);
const pipeRate = median(rate['pipe'] ?? []);
const portkeyRate = median(rate['portkey'] ?? []);
printTable(
  `chat, ${ROUNDS} interleaved rounds, medians`,
  ['', 'p50 ms at 1', 'added ms', `req/s at ${CONNECTIONS}`, 'of pipe', 'of portkey'],
  Object.keys(contenders).map((name) => {
    const latency = median(p50[name] ?? []);
    const throughput = median(rate[name] ?? []);
    return [
      name,
      cell(latency),
      cell(latency - direct),
      cell(throughput),
      cell(throughput / pipeRate),
      cell(throughput / portkeyRate),
    ];
  }),
);
process.stdout.write(`failed requests under load: ${failures}\n`);

await Promise.all([service.stop(), portkey.child.stop(), pipe.stop(), vendor.stop()]);
