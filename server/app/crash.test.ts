import { afterEach, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { startScriptedVendor } from '../testing/scripted-vendor.ts';
import { ADMIN_KEY, callApi, pickText } from '../testing/start-test-app.ts';
import { databaseUrlOf, makeDataDir, postgresPid } from '../testing/data-dirs.ts';
import { cleanUpProcesses, startProcess } from '../testing/start-process.ts';
import { descriptionOf, WriteLoader, type WriteLoad } from '../testing/write-load.ts';

afterEach(cleanUpProcesses);

const ROUNDS = 10;
const WRITERS = 12;
/** More than the time in which a served request is counted: its batch is collected for 50 ms and written. */
const LATEST_MS = 400;
const EARLIER_ACKNOWLEDGEMENTS = 30;

/** Acknowledgements that had come so long before that their requests must have been counted. */
function earlier({ acknowledgedAtMs }: WriteLoad): number {
  const now = performance.now();
  return acknowledgedAtMs.filter((atMs) => atMs < now - LATEST_MS).length;
}

/** One snapshot: a transaction of the killed process may still be ending. */
const SNAPSHOT = `select
  (select coalesce(json_object_agg(name, description), '{}') from tools) as tools,
  (select json_agg(id) from api_keys) as keys,
  (select coalesce(json_agg(json_build_object('id', id, 'role', role, 'content', content) order by id), '[]')
    from conversation_turns) as turns,
  (select count(*)::int from ai_usage where outcome = 'finished') as finished,
  (select count(*)::int from outbox_events where type = 'ai.conversation') as events,
  (select coalesce(sum(requests), 0)::int from usage_counters where key_id = $1) as counted`;

interface Snapshot {
  tools: Record<string, string>;
  keys: string[];
  turns: { id: string; role: string; content: string }[];
  finished: number;
  events: number;
  counted: number;
}

async function snapshotOf(dataDir: string, keyId: string): Promise<Snapshot> {
  const [row] = await queryRows(databaseUrlOf(dataDir), SNAPSHOT, [keyId]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the statement above
  return row as unknown as Snapshot;
}

function expectNothingLost({ tools, keys, turns }: Snapshot, { acknowledged }: WriteLoader): void {
  expect([...acknowledged.tools].filter((name) => tools[name] === undefined)).toEqual([]);
  const known = new Set(keys);
  expect([...acknowledged.keys.keys()].filter((id) => !known.has(id))).toEqual([]);
  const said = new Set(turns.map(({ content }) => content));
  expect([...acknowledged.chats].filter((message) => !said.has(message))).toEqual([]);
}

function expectNothingHalf({ tools, turns, finished, events }: Snapshot): void {
  expect(Object.entries(tools).filter(([name, description]) => description !== descriptionOf(name))).toEqual([]);
  const ids = turns.map(({ id, role }) => `${id} ${role}`);
  const pairs = ids.filter((_, i) => i % 2 === 0).flatMap((id) => [id, id.replace('.0 user', '.1 assistant')]);
  expect(ids).toEqual(pairs);
  expect({ finished, events }).toEqual({ finished: turns.length / 2, events: turns.length / 2 });
}

test('ten kills under load lose nothing that was acknowledged', { timeout: 120_000 }, async () => {
  const vendor = await startScriptedVendor();
  const dataDir = await makeDataDir();
  const env = {
    AI_DEFAULT_BASE_URL: vendor.baseUrl,
    AI_DEFAULT_API_KEY: 'vendor-key',
    BOOTSTRAP_API_KEY: ADMIN_KEY,
    ENTERPRISE_PER_MINUTE: '10000000',
  };
  let service = await startProcess({ dataDir, env });
  const path = '/v1/auth/api-keys';
  const body = { permissions: ['read', 'write', 'admin'] };
  const created = (await callApi(service.url, { method: 'POST', path, key: ADMIN_KEY, body })).body;
  const keyId = pickText(created, 'id');
  const loader = new WriteLoader(pickText(created, 'key'));
  let mustBeCounted = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const load = loader.start(service.url, WRITERS);
    await expect.poll(() => earlier(load), { timeout: 20_000, interval: 5 }).toBeGreaterThan(EARLIER_ACKNOWLEDGEMENTS);
    const postgres = await postgresPid(dataDir);
    mustBeCounted += earlier(load);
    await (round % 2 === 0 ? service.kill() : service.killAll());
    await load.ended;

    service = await startProcess({ dataDir, env });
    expect((await postgresPid(dataDir)) === postgres).toBe(round % 2 === 0);
    const snapshot = await snapshotOf(dataDir, keyId);
    expectNothingLost(snapshot, loader);
    expectNothingHalf(snapshot);
    expect(snapshot.counted).toBeLessThanOrEqual(loader.sent);
    expect(snapshot.counted).toBeGreaterThanOrEqual(mustBeCounted);
    mustBeCounted = snapshot.counted;
  }
  const [key] = [...loader.acknowledged.keys.values()].slice(-1);
  expect((await callApi(service.url, { method: 'GET', path: '/v1/tools', key })).status).toBe(200);
  expect((await service.stop()).code).toBe(0);
  await vendor.close();
});
