import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { databaseUrlOf } from '../testing/data-dirs.ts';
import { queryRows } from '../testing/query-rows.ts';
import { pick } from '../testing/start-test-app.ts';
import { cleanUpProcesses, startProcess, type ServiceProcess } from '../testing/start-process.ts';

const KEY = 'a-key-for-the-crash-of-a-sync-0123456789';

afterEach(cleanUpProcesses);

async function call(service: ServiceProcess, method: string, path: string, body?: unknown) {
  const response = await fetch(`${service.url}/v1/graph/crm${path}`, {
    method,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** Waits until a session of the database writes edges, in a transaction that has not ended. */
async function waitForWrites(databaseUrl: string): Promise<void> {
  for (;;) {
    const [row] = await queryRows(
      databaseUrl,
      `select count(*)::int as n from pg_stat_activity
       where pid <> pg_backend_pid() and query like '%insert into graph_edges%' and xact_start is not null`,
    );
    if (Number(row?.['n']) > 0) return;
    await sleep(2);
  }
}

test(
  'kill -9 in the middle of a sync leaves nothing of it, and the graph takes it again',
  { timeout: 120_000 },
  async () => {
    const env = { BOOTSTRAP_API_KEY: KEY };
    const service = await startProcess({ env });
    const databaseUrl = databaseUrlOf(service.dataDir);
    const before = { nodes: [{ type: 't', name: 'before' }], edges: [{ from: 'before', to: 'n0', relation: 'r' }] };
    expect(await call(service, 'POST', '/sync', before)).toMatchObject({ status: 200 });
    const held = (await call(service, 'GET', '/stats')).body;

    const nodes = Array.from({ length: 20_000 }, (_, i) => ({ type: 't', name: `n${i}` }));
    const edges = Array.from({ length: 120_000 }, (_, i) => ({
      from: `n${i % 20_000}`,
      to: `n${(i * 7 + Math.floor(i / 20_000)) % 20_000}`,
      relation: `r${i % 6}`,
    }));
    const broken = call(service, 'POST', '/sync', { nodes, edges }).catch(() => undefined);
    await waitForWrites(databaseUrl);
    await service.killAll();
    await broken;

    const again = await startProcess({ env, dataDir: service.dataDir });
    expect((await call(again, 'GET', '/stats')).body).toEqual(held);
    expect((await call(again, 'GET', '/nodes/n0')).status).toBe(404);
    expect(await call(again, 'POST', '/sync', { nodes, edges })).toMatchObject({ status: 200 });
    const stats = (await call(again, 'GET', '/stats')).body;
    expect(stats).toMatchObject({ nodeCount: 20_001, edgeCount: 120_001, pendingEdgeCount: 0 });
    const [counted] = await queryRows(databaseUrl, 'select count(*)::int as n from graph_edges');
    expect(pick(counted, 'n')).toBe(120_001);
  },
);
