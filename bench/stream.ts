// Streams through the service against the vendor directly: time to the first fragment at concurrency 1, and 512 streams
// at once with a fragment each 20 ms: frames lost, and how late frames come behind the moment the vendor sent them.
// Usage: node bench/stream.ts [streams]
import { connect } from 'node:net';
import { freePort, startChild, type Child } from './lib/child.ts';
import { requestBytes, type RawRequest } from './lib/http-client.ts';
import { HOST, ROOT, startBenchService, type BenchService } from './lib/service.ts';
import { cell, median, printTable, quantile } from './lib/stats.ts';

const STREAMS = Number(process.argv[2] ?? 512);
const FRAGMENTS = 250;
const FRAGMENT_MS = 20;
const FIRST_ROUNDS = 300;

interface Frames {
  /** Milliseconds from sending the request to the first fragment. */
  firstMs: number;
  /** Milliseconds by which each fragment came after the vendor had sent it. */
  lateMs: number[];
  isDone: boolean;
}

/** Reads one stream to its end. Fragments carry their number and the time they were sent. */
async function readStream(request: RawRequest): Promise<Frames> {
  const { promise, resolve, reject } = Promise.withResolvers<Frames>();
  const frames: Frames = { firstMs: Number.NaN, lateMs: [], isDone: false };
  const startedAt = performance.now();
  const socket = connect({ host: request.host, port: request.port, noDelay: true });
  socket.on('connect', () =>
    socket.write(requestBytes({ ...request, headers: { ...request.headers, connection: 'close' } })),
  );
  socket.on('data', (chunk: Buffer) => {
    const now = performance.timeOrigin + performance.now();
    const text = chunk.toString('latin1');
    for (const match of text.matchAll(/"(\d+) ([\d.]+);/g)) {
      if (frames.lateMs.length === 0) frames.firstMs = performance.now() - startedAt;
      frames.lateMs.push(now - Number(match[2]));
    }
    if (text.includes('[DONE]') || text.includes('"done"')) {
      frames.isDone = true;
      socket.destroy();
      resolve(frames);
    }
  });
  socket.on('error', reject);
  socket.on('close', () => resolve(frames));
  return promise;
}

async function startVendor(env: Record<string, string>): Promise<{ child: Child; port: number }> {
  const port = await freePort();
  const child = await startChild(['bench/lib/vendor.ts'], {
    cwd: ROOT,
    env: { PORT: String(port), ...env },
    readyUrl: `http://${HOST}:${port}/`,
  });
  return { child, port };
}

function serviceFor(vendorPort: number): Promise<BenchService> {
  return startBenchService({
    AI_DEFAULT_PROTOCOL: 'openai',
    AI_DEFAULT_BASE_URL: `http://${HOST}:${vendorPort}/v1`,
    AI_DEFAULT_API_KEY: 'bench',
    AI_MAX_CONCURRENCY: '1024',
  });
}

function directRequest(port: number): RawRequest {
  const body = JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: 'Count.' }] });
  return {
    host: HOST,
    port,
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json' },
    body,
  };
}

async function firstFragment(): Promise<void> {
  const vendor = await startVendor({ FRAGMENTS: '3', FRAGMENT_MS: '0' });
  const service = await serviceFor(vendor.port);
  const contenders = {
    direct: directRequest(vendor.port),
    tessera: service.request('POST', '/v1/ai/chat/stream', { message: 'Count.' }),
  };
  const firsts: Record<string, number[]> = { direct: [], tessera: [] };
  for (let i = 0; i < FIRST_ROUNDS; i++) {
    for (const [name, request] of Object.entries(contenders)) {
      const { firstMs } = await readStream(request);
      if (i >= FIRST_ROUNDS / 3) firsts[name]?.push(firstMs);
    }
  }
  const direct = median(firsts['direct'] ?? []);
  printTable(
    'first fragment, new connection each, in turn',
    ['', 'p50 ms', 'later by ms'],
    [
      ['direct', cell(direct), cell(0)],
      ['tessera', cell(median(firsts['tessera'] ?? [])), cell(median(firsts['tessera'] ?? []) - direct)],
    ],
  );
  await Promise.all([service.stop(), vendor.child.stop()]);
}

function report(name: string, all: Frames[]): string[] {
  const late = all.flatMap((frames) => frames.lateMs);
  const lost = all.length * FRAGMENTS - late.length;
  const unfinished = all.filter((frames) => !frames.isDone).length;
  return [
    name,
    String(lost),
    String(unfinished),
    cell(median(late)),
    cell(quantile(late, 0.99)),
    cell(Math.max(...late.slice(0, 1), quantile(late, 1))),
  ];
}

async function manyStreams(): Promise<void> {
  const vendor = await startVendor({ FRAGMENTS: String(FRAGMENTS), FRAGMENT_MS: String(FRAGMENT_MS) });
  const service = await serviceFor(vendor.port);
  const rows: string[][] = [];
  const requests = {
    direct: directRequest(vendor.port),
    tessera: service.request('POST', '/v1/ai/chat/stream', { message: 'Count.' }),
  };
  for (const [name, request] of Object.entries(requests)) {
    rows.push(report(name, await Promise.all(Array.from({ length: STREAMS }, () => readStream(request)))));
  }
  printTable(
    `${STREAMS} streams, ${FRAGMENTS} fragments, one each ${FRAGMENT_MS} ms; lateness in ms`,
    ['', 'frames lost', 'unfinished', 'p50', 'p99', 'worst'],
    rows,
  );
  await Promise.all([service.stop(), vendor.child.stop()]);
}

await firstFragment();
await manyStreams();
