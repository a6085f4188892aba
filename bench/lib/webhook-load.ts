import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import type { EventType } from '../../contract/events/index.ts';
import { createId } from '../../server/platform/ids/index.ts';
import { callApi, pickText } from '../../server/testing/start-test-app.ts';
import { freePort, startChild } from './child.ts';
import { HOST, ROOT, type BenchService } from './service.ts';

/** One message as a receiver got it: `n` is the number of its event. */
type Arrival = [receiver: number, n: number, atMs: number];

export interface Sink {
  ports: readonly number[];
  count: () => Promise<number>;
  /** All since it was last asked. */
  arrivals: () => Promise<Arrival[]>;
  /** Lets one receiver never answer, until `release`. */
  hang: (port: number) => Promise<void>;
  release: () => Promise<void>;
  stop: () => Promise<void>;
}

/** Starts receivers in a process of their own. */
export async function startSink(receivers: number): Promise<Sink> {
  const ports = await Promise.all(Array.from({ length: receivers }, freePort));
  const base = `http://${HOST}:${ports[0]}`;
  const child = await startChild(['bench/lib/webhook-sink.ts'], {
    cwd: ROOT,
    env: { PORTS: ports.join(',') },
    readyUrl: `${base}/count`,
  });
  const ask = async (path: string): Promise<unknown> => (await fetch(base + path)).json();
  return {
    ports,
    count: async () => Number(await ask('/count')),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the sink above writes
    arrivals: async () => (await ask('/arrivals')) as Arrival[],
    hang: async (port) => void (await ask(`/hang?port=${port}`)),
    release: async () => void (await ask('/release')),
    stop: () => child.stop(),
  };
}

/** Writes events straight into the outbox, as a module of the service does in its transaction. */
export class Publisher {
  readonly #pool: Pool;
  readonly #developerId: string;

  constructor(databaseUrl: string, developerId: string) {
    this.#pool = new Pool({ connectionString: databaseUrl, max: 4 });
    this.#developerId = developerId;
  }

  /** Commits events numbered from `first`. */
  async publish(type: EventType, first: number, count = 1): Promise<void> {
    const numbers = Array.from({ length: count }, (_, i) => first + i);
    await this.#pool.query(
      `insert into outbox_events (developer_id, id, type, data)
       select $1, e.id, $2, e.data from unnest($3::text[], $4::jsonb[]) as e (id, data)`,
      [this.#developerId, type, numbers.map(() => createId('evt')), numbers.map((n) => JSON.stringify(dataOf(n)))],
    );
  }

  /** Commits one event after the other at a steady pace; gives the moment of each commit. */
  async publishSteadily(type: EventType, pace: { perSecond: number; count: number }): Promise<Map<number, number>> {
    const committedAtMs = new Map<number, number>();
    const startedAt = performance.now();
    const commits: Promise<void>[] = [];
    const commit = async (n: number): Promise<void> => {
      await this.publish(type, n);
      committedAtMs.set(n, performance.timeOrigin + performance.now());
    };
    for (let n = 0; n < pace.count; n++) {
      const dueInMs = startedAt + (n * 1000) / pace.perSecond - performance.now();
      if (dueInMs > 0) await sleep(dueInMs);
      commits.push(commit(n));
    }
    await Promise.all(commits);
    return committedAtMs;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** Data as of a tool's call. */
export function dataOf(n: number): Record<string, unknown> {
  const result = { orderId: '4711', state: 'shipped', address: 'Am Sandtorkai 1, 20457 Hamburg' };
  return { n, toolName: 'get_order', input: { orderId: '4711' }, result, elapsed_ms: 12.3 };
}

/** A subscription; deleting it takes what is pending along. */
export interface Subscription {
  id: string;
  developerId: string;
}

export async function subscribe(service: BenchService, event: EventType, port: number): Promise<Subscription> {
  const { headers } = service.request('POST', '/');
  const body = { event, url: `http://${HOST}:${port}/hook`, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
  const path = '/v1/events/webhooks';
  const answer = await callApi(`http://${HOST}:${service.port}`, { method: 'POST', path, headers, body });
  return { id: pickText(answer.body, '_id'), developerId: pickText(answer.body, 'developerId') };
}

export async function unsubscribe(service: BenchService, subscriptions: readonly Subscription[]): Promise<void> {
  const { headers } = service.request('DELETE', '/');
  for (const { id } of subscriptions) {
    await callApi(`http://${HOST}:${service.port}`, { method: 'DELETE', path: `/v1/events/webhooks/${id}`, headers });
  }
}
