import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { RawConnection, requestBytes } from '../http-client.ts';
import type { BenchService } from '../service.ts';
import { timed, times, type Engine } from './engine.ts';

const POLL_MS = 1;

function bodyOf(answer: string): Record<string, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- answers of the service are JSON objects
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
}

const nodes = ['a', 'b', 'c'].map((id) => ({ id, type: 'condition', config: { left: 1, operator: '==', right: 1 } }));
const edges = [
  { from: 'a', to: 'b' },
  { from: 'b', to: 'c' },
];

/** Our service, asked for runs over HTTP. */
export async function startTessera({ request, databaseUrl }: BenchService, concurrency: number): Promise<Engine> {
  const pool = new Pool({ connectionString: databaseUrl, max: 1 });
  const connections = await Promise.all(
    Array.from({ length: concurrency }, () => RawConnection.open(request('GET', '/'))),
  );
  const send = async (caller: number, bytes: Buffer): Promise<Record<string, unknown>> => {
    const connection = connections[caller];
    if (!connection) throw new Error('there are fewer connections than callers');
    return bodyOf(await connection.send(bytes));
  };
  const created = await send(0, requestBytes(request('POST', '/v1/workflows', { name: 'Bench', nodes, edges })));
  const owner = String(created['userId']);
  const path = `/v1/workflows/${String(created['id'])}`;
  const start = requestBytes(request('POST', `${path}/run`, {}));

  /** Seen in the database, so that looking costs the service nothing. */
  const readStatus = async (runId: string): Promise<string> => {
    const text = 'select status from workflow_runs where developer_id = $1 and id = $2';
    const { rows } = await pool.query<{ status: string }>({ name: 'status', text, values: [owner, runId] });
    return rows[0]?.status ?? 'absent';
  };
  const countOpen = async (): Promise<number> => {
    const { rows } = await pool.query<{ open: number }>(
      `select count(*)::int as open from workflow_runs where status in ('pending', 'running')`,
    );
    return rows[0]?.open ?? 0;
  };
  return {
    name: 'tessera',
    one: () =>
      timed(async () => {
        const { runId } = await send(0, start);
        for (;;) {
          const status = await readStatus(String(runId));
          if (status === 'completed') return;
          if (status === 'failed') throw new Error('a run failed');
          await sleep(POLL_MS);
        }
      }),
    all: async (runs, callers) => {
      await times(runs, callers, (caller) => send(caller, start));
      while ((await countOpen()) > 0) await sleep(5);
    },
    stop: async () => {
      for (const connection of connections) connection.close();
      await pool.end();
    },
  };
}
