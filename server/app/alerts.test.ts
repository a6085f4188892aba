import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { startTestApp, type Answer, type TestApp } from '../testing/start-test-app.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

const CAP = 50;

let database: TestDatabase;
let app: TestApp;
let twin: TestApp;
beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, ENTERPRISE_PER_DAY: String(CAP) };
  [app, twin] = await Promise.all([startTestApp(env), startTestApp(env)]);
});
afterAll(async () => {
  await Promise.all([app.stop(), twin.stop()]);
  await database.drop();
});

interface Developer {
  id: string;
  key: string;
  keyId: string;
}

async function burst(of: TestApp, { key }: Developer, count: number): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, () => of.call('GET', '/v1/nothing', { key })));
}

async function alertsOf({ id }: Developer): Promise<unknown[]> {
  const rows = await queryRows(
    database.url,
    `select data from outbox_events where developer_id = $1 and type = 'alert.triggered' order by seq`,
    [id],
  );
  return rows.map(({ data }) => data);
}

async function storedOf({ keyId }: Developer): Promise<unknown> {
  const rows = await queryRows(database.url, 'select requests::int from usage_counters where key_id = $1', [keyId]);
  return rows[0]?.['requests'];
}

function dailyLimit({ keyId }: Developer, percent: number): object {
  const severity = percent === 100 ? 'error' : 'warning';
  const message = expect.stringMatching(
    new RegExp(`^${percent}% of the daily requests are used: the key ${keyId} has`),
  );
  return { alertType: 'daily_limit', source: keyId, severity, message };
}

describe('the daily limit', () => {
  test('is told of at 80% and at 100%, once, whichever processes serve', async () => {
    const developer = await app.createDeveloper();
    await burst(app, developer, CAP * 0.8 - 1);
    await expect.poll(() => storedOf(developer)).toBe(CAP * 0.8 - 1);
    expect(await alertsOf(developer)).toEqual([]);
    await burst(twin, developer, 1);
    await expect.poll(() => alertsOf(developer)).toEqual([dailyLimit(developer, 80)]);
    await Promise.all([burst(app, developer, 5), burst(twin, developer, 4)]);
    await expect.poll(() => storedOf(developer)).toBe(CAP - 1);
    expect(await alertsOf(developer)).toHaveLength(1);
    // Both may pass the cap by what they do not know of each other yet.
    await Promise.all([burst(app, developer, 20), burst(twin, developer, 20)]);
    const both = [dailyLimit(developer, 80), dailyLimit(developer, 100)];
    await expect.poll(() => alertsOf(developer)).toEqual(both);
    expect((await burst(app, developer, 20)).map(({ status }) => status)).toEqual(Array(20).fill(429));
    expect(await alertsOf(developer)).toEqual(both);
  });

  test('is told of once although connections break while requests are counted', async () => {
    const developers = await Promise.all(Array.from({ length: 4 }, () => app.createDeveloper()));
    let isUsedUp = false;
    while (!isUsedUp) {
      const bursts = developers.flatMap((each) => [burst(app, each, 2), burst(twin, each, 2)]);
      await database.breakConnections();
      isUsedUp = (await Promise.all(bursts)).flat().every(({ status }) => status === 429);
    }
    for (const developer of developers) {
      await expect
        .poll(() => alertsOf(developer), { timeout: 5000 })
        .toEqual([dailyLimit(developer, 80), dailyLimit(developer, 100)]);
    }
  });

  test('is that of the tier', async () => {
    const developer = await app.createDeveloper('free');
    await queryRows(
      database.url,
      `insert into usage_counters (developer_id, key_id, day, requests)
        values ($1, $2, (now() at time zone 'UTC')::date, 798)`,
      [developer.id, developer.keyId],
    );
    await burst(app, developer, 1);
    await expect.poll(() => storedOf(developer)).toBe(799);
    expect(await alertsOf(developer)).toEqual([]);
    await burst(app, developer, 1);
    await expect.poll(() => alertsOf(developer)).toEqual([dailyLimit(developer, 80)]);
  });
});

test('a tool whose address is gone is told of once', async () => {
  const developer = await app.createDeveloper();
  const { key } = developer;
  const body = { name: 'gone', description: 'A tool.', execution: { type: 'http', url: 'http://127.0.0.1:1/' } };
  expect((await app.call('POST', '/v1/tools', { key, body })).status).toBe(201);
  for (const of of [app, twin, app, twin]) {
    await Promise.all(
      Array.from({ length: 7 }, () => of.call('POST', '/v1/tools/gone/test', { key, body: { input: {} } })),
    );
  }
  const waiting = `select from outbox_events where dispatched_at is null`;
  await expect.poll(async () => (await queryRows(database.url, waiting)).length).toBe(0);
  expect(await alertsOf(developer)).toEqual([
    {
      alertType: 'tool_failure_rate',
      source: 'gone',
      message: expect.stringMatching(/^20 of the last 20 calls of the tool "gone" failed\. The last error: ./u),
      severity: 'warning',
    },
  ]);
});
