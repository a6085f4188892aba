// Authenticated GET /v1/tools/{name} at concurrency 32, with limits, metering and log on, against bare Fastify
// answering the same bytes. Usage: node bench/get-tool.ts [rounds]
import { freePort, startChild } from './lib/child.ts';
import { RawConnection, requestBytes, type RawRequest } from './lib/http-client.ts';
import { HOST, ROOT, startBenchService } from './lib/service.ts';
import { cell, median, printTable } from './lib/stats.ts';
import { load } from './lib/wrk.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const LOAD_SECONDS = 3;
const CONNECTIONS = 32;

const service = await startBenchService();
const connection = await RawConnection.open({ host: HOST, port: service.port });
const registration = {
  name: 'get_order',
  description: 'Reads one order by its id.',
  input_schema: { type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'] },
  execution: { type: 'http', method: 'GET', url: 'https://api.example.com/orders/{orderId}' },
};
await connection.send(requestBytes(service.request('POST', '/v1/tools', registration)));
const ours = service.request('GET', '/v1/tools/get_order');
const answer = await connection.send(requestBytes(ours));
connection.close();

const barePort = await freePort();
const bare = await startChild(['bench/lib/bare-fastify.ts'], {
  cwd: ROOT,
  env: { PORT: String(barePort), ANSWER: answer.slice(answer.indexOf('\r\n\r\n') + 4) },
  readyUrl: `http://${HOST}:${barePort}/`,
});
const contenders: Record<string, RawRequest> = { 'bare fastify': { ...ours, port: barePort }, tessera: ours };

const rate: Record<string, number[]> = {};
let failures = 0;
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, request] of Object.entries(contenders)) {
    const result = await load(request, { connections: CONNECTIONS, seconds: LOAD_SECONDS });
    (rate[name] ??= []).push(result.requestsPerSecond);
    failures += result.failures;
  }
}
const floor = median(rate['bare fastify'] ?? []);
printTable(
  `GET /v1/tools/{name}, concurrency ${CONNECTIONS}, ${ROUNDS} interleaved rounds, medians`,
  ['', 'req/s', 'of bare fastify'],
  Object.keys(contenders).map((name) => {
    const throughput = median(rate[name] ?? []);
    return [name, cell(throughput), cell(throughput / floor)];
  }),
);
process.stdout.write(`failed requests: ${failures}\n`);
await Promise.all([service.stop(), bare.stop()]);
