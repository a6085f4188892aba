// What delivering webhooks costs over a bare loop of POSTs, how soon after the commit of an event its message comes, and
// what one receiver that hangs costs nine others. Usage: node bench/webhooks.ts [rounds]
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { HOST, startBenchService } from './lib/service.ts';
import { cell, median, printTable, quantile } from './lib/stats.ts';
import { dataOf, Publisher, startSink, subscribe, unsubscribe, type Subscription } from './lib/webhook-load.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const MESSAGES = 20_000;
const BATCH = 500;
/** As many as one subscription has under way at most. */
const CONNECTIONS = 64;
const RECEIVERS = 10;
const PER_SECOND = 100;
const STEADY_SECONDS = 10;
const DEADLINE_MS = 120_000;

const sink = await startSink(RECEIVERS);
const [firstPort = 0] = sink.ports;
const hungPort = sink.ports.at(-1) ?? 0;
const service = await startBenchService();
const probe = await subscribe(service, 'alert.triggered', firstPort);
const publisher = new Publisher(service.databaseUrl, probe.developerId);

async function waitForCount(wanted: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const count = await sink.count();
    if (count >= wanted) return;
    if (performance.now() > deadline) throw new Error(`${wanted - count} messages did not come`);
    await sleep(10);
  }
}

/** What a delivery has, ready made. */
const HEADERS = {
  'content-type': 'application/json',
  'accept-encoding': 'identity',
  'x-webhook-event': 'tool.executed',
  'x-webhook-timestamp': new Date().toISOString(),
  'x-webhook-signature': `sha256=${'0'.repeat(64)}`,
  'webhook-id': 'evt_01kagc2y5jv6f3w9c0m4x7t8zb',
  'webhook-timestamp': '1769847331',
  'webhook-signature': `v1,${'0'.repeat(43)}=`,
};

/** POSTs per second of a loop that does nothing else. */
async function measureBare(): Promise<number> {
  const pool = new Pool(`http://${HOST}:${firstPort}`, { connections: CONNECTIONS });
  let next = 0;
  const post = async (): Promise<void> => {
    while (next < MESSAGES) {
      const data = dataOf(next++);
      const body = JSON.stringify({ event: 'tool.executed', timestamp: new Date().toISOString(), data });
      const answer = await pool.request({ method: 'POST', path: '/hook', headers: HEADERS, body });
      await answer.body.dump();
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, post));
  const rate = (MESSAGES * 1000) / (performance.now() - startedAt);
  await pool.close();
  return rate;
}

/** Deliveries per second, from before the first commit until the last message has come; to each of the ports. */
async function measureService(ports: readonly number[], events: number): Promise<number> {
  const subscriptions = await Promise.all(ports.map((port) => subscribe(service, 'tool.executed', port)));
  const messages = events * ports.length;
  const before = await sink.count();
  const startedAt = performance.now();
  for (let first = 0; first < events; first += BATCH) await publisher.publish('tool.executed', first, BATCH);
  await waitForCount(before + messages);
  const rate = (messages * 1000) / (performance.now() - startedAt);
  await unsubscribe(service, subscriptions);
  return rate;
}

/** Milliseconds from commit to the first byte at a receiver that answers. */
async function measureDelays(ports: readonly number[], options: { hung?: number } = {}): Promise<number[]> {
  const { hung } = options;
  const subscriptions: Subscription[] = [];
  for (const port of ports) subscriptions.push(await subscribe(service, 'graph.synced', port));
  if (hung !== undefined) await sink.hang(hung);
  await sink.arrivals();
  const committed = await publisher.publishSteadily('graph.synced', {
    perSecond: PER_SECOND,
    count: PER_SECOND * STEADY_SECONDS,
  });
  const isHung = (receiver: number): boolean => sink.ports[receiver] === hung;
  const healthy = ports.filter((port) => port !== hung).length;
  const delays: number[] = [];
  const deadline = performance.now() + DEADLINE_MS;
  while (delays.length < committed.size * healthy) {
    for (const [receiver, n, atMs] of await sink.arrivals()) {
      if (!isHung(receiver)) delays.push(atMs - (committed.get(n) ?? Number.NaN));
    }
    if (performance.now() > deadline) throw new Error('messages are missing');
    await sleep(50);
  }
  await unsubscribe(service, subscriptions);
  await sink.release();
  return delays;
}

const rates = { bare: [] as number[], one: [] as number[], ten: [] as number[] };
const delays = { one: [] as number[][], ten: [] as number[][], hung: [] as number[][] };
// The first round of a process is slower, and not counted.
await measureBare();
await measureService([firstPort], MESSAGES);
for (let round = 0; round < ROUNDS; round++) {
  rates.bare.push(await measureBare());
  rates.one.push(await measureService([firstPort], MESSAGES));
  rates.ten.push(await measureService(sink.ports, MESSAGES / RECEIVERS));
  delays.one.push(await measureDelays([firstPort]));
  // The order changes, so that neither is always the one after the other.
  if (round % 2 === 0) delays.ten.push(await measureDelays(sink.ports));
  delays.hung.push(await measureDelays(sink.ports, { hung: hungPort }));
  if (round % 2 === 1) delays.ten.push(await measureDelays(sink.ports));
}

const bare = median(rates.bare);
printTable(
  `deliveries, ${ROUNDS} interleaved rounds of ${MESSAGES} messages, medians`,
  ['', 'deliveries/s', 'of bare', 'must reach'],
  [
    ['bare POSTs', cell(bare), cell(1), ''],
    ['one receiver', cell(median(rates.one)), cell(median(rates.one) / bare), '0.3'],
    ['ten receivers', cell(median(rates.ten)), cell(median(rates.ten) / bare), ''],
  ],
);

/** The median over the rounds of a quantile of each. */
function over(rounds: readonly number[][], q: number): number {
  return median(rounds.map((round) => quantile(round, q)));
}
// Both of a round, one right after the other, see the same machine.
const moves = delays.hung.map((samples, round) => quantile(samples, 0.99) / quantile(delays.ten[round] ?? [], 0.99));
const moved = median(moves);
printTable(
  `commit to first byte at ${PER_SECOND} events/s for ${STEADY_SECONDS} s, medians of ${ROUNDS} rounds`,
  ['', 'p50 ms', 'p99 ms', 'must reach'],
  [
    ['one receiver', cell(over(delays.one, 0.5)), cell(over(delays.one, 0.99)), 'p50 50 ms, p99 250 ms'],
    ['ten receivers', cell(over(delays.ten, 0.5)), cell(over(delays.ten, 0.99)), ''],
    ['nine, the tenth hangs', cell(over(delays.hung, 0.5)), cell(over(delays.hung, 0.99)), ''],
  ],
);
process.stdout.write(`p99 of the nine is ${moved.toFixed(2)} of that without one that hangs; must be at most 1.10\n`);

await publisher.close();
await Promise.all([service.stop(), sink.stop()]);
