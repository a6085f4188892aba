import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { pick, startTestApp, type Answer, type TestApp } from '../testing/start-test-app.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

// Without Redis: what two processes know of each other is in the database.
let database: TestDatabase;
let app: TestApp;
let twin: TestApp;
beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.url };
  [app, twin] = await Promise.all([startTestApp(env), startTestApp(env)]);
});
afterAll(async () => {
  await Promise.all([app.stop(), twin.stop()]);
  await database.drop();
});

async function storedOf(keyId: string): Promise<unknown> {
  const rows = await queryRows(
    database.url,
    'select sum(requests)::int as requests from usage_counters where key_id = $1',
    [keyId],
  );
  return rows[0]?.['requests'];
}

async function todayOf(of: TestApp, key: string): Promise<unknown> {
  return pick((await of.call('GET', '/v1/auth/usage', { key })).body, 'usage', 'today');
}

async function burst(of: TestApp, key: string, count: number): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, () => of.call('GET', '/v1/nothing', { key })));
}

function served(answers: Answer[]): number {
  return answers.filter(({ status }) => status === 404).length;
}

async function setToday(developer: { id: string; keyId: string }, requests: number): Promise<void> {
  await queryRows(
    database.url,
    `insert into usage_counters (developer_id, key_id, day, requests)
      values ($1, $2, (now() at time zone 'UTC')::date, $3)`,
    [developer.id, developer.keyId, requests],
  );
}

describe('usage', () => {
  test('1,000 requests at once are 1,000, at once and in the database', async () => {
    const { key, keyId } = await app.createDeveloper();
    expect(served(await burst(app, key, 1000))).toBe(1000);
    expect(await todayOf(app, key)).toBe(1001);
    await expect.poll(() => storedOf(keyId)).toBe(1001);
  });

  test('it is exact at every moment, whichever batch is being written', async () => {
    const { key } = await app.createDeveloper();
    let sent = 0;
    for (let round = 0; round < 60; round++) {
      sent += served(await burst(app, key, 3));
      expect(await todayOf(app, key)).toBe(++sent);
    }
  });

  test('a process that served nothing tells what another served, a batch later', async () => {
    const { key } = await app.createDeveloper();
    expect(await todayOf(twin, key)).toBe(1);
    await burst(app, key, 20);
    let asked = 1;
    await expect.poll(async () => Number(await todayOf(twin, key)) - ++asked).toBe(20);
  });

  test('the month sums its UTC days, and no other', async () => {
    const developer = await app.createDeveloper();
    await queryRows(
      database.url,
      `insert into usage_counters (developer_id, key_id, day, requests)
        select $1, $2, day, case when date_trunc('month', day) = date_trunc('month', today) then 2 else 1000 end
        from (select (now() at time zone 'UTC')::date::timestamp as today) as now,
          generate_series(today - interval '40 days', today + interval '40 days', interval '1 day') as day
        where day <> today`,
      [developer.id, developer.keyId],
    );
    const now = new Date();
    const daysOfMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
    const { body } = await app.call('GET', '/v1/auth/usage', { key: developer.key });
    expect(pick(body, 'usage')).toEqual({ today: 1, month: (daysOfMonth - 1) * 2 + 1 });
  });

  test('connections that break while batches are written lose and double nothing', async () => {
    const { key, keyId } = await app.createDeveloper();
    let count = 0;
    for (let round = 0; round < 10; round++) {
      const answers = burst(app, key, 20);
      await database.breakConnections();
      count += served(await answers);
    }
    expect(count).toBeGreaterThan(0);
    await expect.poll(() => storedOf(keyId), { timeout: 5000 }).toBe(count);
  });
});

describe('the day', () => {
  test('one process ends exactly at the cap that the database counts towards', async () => {
    const developer = await app.createDeveloper('basic');
    await setToday(developer, 9_985);
    const answers = await burst(app, developer.key, 30);
    expect(served(answers)).toBe(15);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  test('what one process used up, another refuses after its next batch', async () => {
    const developer = await app.createDeveloper('basic');
    await setToday(developer, 9_980);
    expect(served(await burst(twin, developer.key, 1))).toBe(1);
    await expect.poll(() => storedOf(developer.keyId)).toBe(9_981);
    expect(served(await burst(app, developer.key, 30))).toBe(19);
    await expect.poll(() => storedOf(developer.keyId)).toBe(10_000);
    let late = 0;
    await expect
      .poll(async () => {
        const [answer] = await burst(twin, developer.key, 1);
        if (answer?.status === 404) late++;
        return answer?.status;
      })
      .toBe(429);
    // What was under way before its next batch.
    expect(late).toBeLessThanOrEqual(5);
    await expect.poll(() => storedOf(developer.keyId)).toBe(10_000 + late);
  });
});
