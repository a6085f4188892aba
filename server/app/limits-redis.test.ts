import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { hasRedis, startRedis, type TestRedis } from '../testing/start-redis.ts';
import { pick, startTestApp, type Answer, type TestApp } from '../testing/start-test-app.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

interface Logged extends TestApp {
  /** Messages at or above info that speak of Redis, in order. */
  redisLog: () => string[];
  logText: () => string;
}

let database: TestDatabase;
let redis: TestRedis;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function startLogged(env: Record<string, string> = {}): Promise<Logged> {
  let text = '';
  const log = { write: (line: string): void => void (text += line) };
  const app = await startTestApp({ DATABASE_URL: database.url, REDIS_URL: redis.url, ...env }, log);
  onTestFinished(() => app.stop());
  const messages = (): unknown[] =>
    text.split('\n').flatMap((line) => (line === '' ? [] : [pick(JSON.parse(line), 'msg')]));
  return {
    ...app,
    logText: () => text,
    redisLog: () => messages().flatMap((message) => (String(message).startsWith('Redis') ? [String(message)] : [])),
  };
}

async function startReplicas(count: number): Promise<[Logged, ...Logged[]]> {
  const first = await startLogged();
  const others = [];
  for (let i = 1; i < count; i++) others.push(await startLogged());
  return [first, ...others];
}

/** Requests of one key at once, spread over the replicas. */
async function burst(apps: TestApp[], key: string, count: number): Promise<Answer[]> {
  const calls = Array.from({ length: count }, async (_, i) => apps[i % apps.length]?.call('GET', '/v1/tools', { key }));
  return (await Promise.all(calls)).filter((answer) => answer !== undefined);
}

function countOf(answers: Answer[], status: number): number {
  return answers.filter((answer) => answer.status === status).length;
}

function header({ headers }: Answer, name: string): number {
  return Number(headers.get(`x-ratelimit-${name}`));
}

/** Redis is asked again, and so noticed, with the next request. */
async function logAfterRequest(app: Logged): Promise<string[]> {
  await app.call('GET', '/v1/tools');
  return app.redisLog();
}

const AWAY = 'Redis does not answer: each process counts limits for itself until it does';
const BACK = 'Redis answers again: limits are shared between processes';

describe.skipIf(!hasRedis)('limits shared through Redis', () => {
  beforeEach(async () => {
    redis = await startRedis();
    return () => redis.remove();
  });

  test.each([
    ['free', 10, 60],
    ['basic', 100, 250],
  ] as const)('of concurrent requests of a %s key over three processes exactly %i pass', async (tier, limit, sent) => {
    const apps = await startReplicas(3);
    const { key, keyId } = await apps[0].createDeveloper(tier);
    const startedAt = Math.floor(Date.now() / 1000);
    const answers = await burst(apps, key, sent);
    expect(countOf(answers, 200)).toBe(limit);
    expect(countOf(answers, 429)).toBe(sent - limit);
    const passed = answers.filter(({ status }) => status === 200);
    const remaining = passed.map((answer) => header(answer, 'remaining')).toSorted((a, b) => b - a);
    expect(remaining).toEqual(Array.from({ length: limit }, (_, i) => limit - 1 - i));
    for (const answer of answers) {
      expect(header(answer, 'limit')).toBe(limit);
      expect(header(answer, 'reset')).toBeGreaterThanOrEqual(startedAt + 60);
      expect(header(answer, 'reset')).toBeLessThanOrEqual(Date.now() / 1000 + 61);
    }
    for (const { headers } of answers.filter(({ status }) => status === 429)) {
      expect(headers.get('retry-after')).toMatch(/^(60|5\d)$/);
      expect(headers.get('x-ratelimit-remaining')).toBe('0');
    }
    const stored = () => queryRows(database.url, 'select requests::int from usage_counters where key_id = $1', [keyId]);
    await expect.poll(stored).toEqual([{ requests: limit }]);
  });

  test('one request after another, from process to process, sees one less remaining and the same reset', async () => {
    const apps = await startReplicas(2);
    const { key } = await apps[0].createDeveloper('free');
    const answers: Answer[] = [];
    for (let i = 0; i < 11; i++) answers.push(...(await burst([apps[i % 2] ?? apps[0]], key, 1)));
    expect(answers.map((answer) => header(answer, 'remaining'))).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0]);
    expect(answers.at(-1)?.status).toBe(429);
    const resets = answers.map((answer) => header(answer, 'reset'));
    // All speak of the moment when the first request leaves the window; a rounding apart at most.
    expect(Math.max(...resets) - Math.min(...resets)).toBeLessThanOrEqual(1);
  });

  test('the day is exact over processes and goes on from what the database holds', async () => {
    const apps = await startReplicas(2);
    const { id, key, keyId } = await apps[0].createDeveloper('basic');
    await queryRows(
      database.url,
      `insert into usage_counters (developer_id, key_id, day, requests)
        values ($1, $2, (now() at time zone 'UTC')::date, 9990)`,
      [id, keyId],
    );
    const answers = await burst(apps, key, 40);
    expect(countOf(answers, 200)).toBe(10);
    const refused = answers.find(({ status }) => status === 429);
    expect(pick(refused?.body, 'error', 'message')).toContain('10000 requests per day');
    const midnight = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400;
    for (const answer of answers) expect(header(answer, 'reset')).toBe(midnight);
  });

  test.each([
    ['is killed', async () => redis.stop()],
    ['hangs', async () => redis.pause()],
  ])('when it %s, requests are answered in time, on what each process counted itself', async (_what, lose) => {
    const [app, twin] = await startReplicas(2);
    const { key } = await app.createDeveloper('free');
    expect(countOf(await burst([app], key, 6), 200)).toBe(6);
    await lose();
    const startedAt = performance.now();
    const answers = await burst([app], key, 20);
    // Late answers are given up after at most 300 ms; the rest is for machines that are busy otherwise.
    expect(performance.now() - startedAt).toBeLessThan(800);
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([4, 16]);
    const laterAt = performance.now();
    for (let i = 0; i < 5; i++) expect(countOf(await burst([app], key, 1), 429)).toBe(1);
    // Had each waited for Redis, this would have taken more than a second.
    expect(performance.now() - laterAt).toBeLessThan(800);
    expect(app.redisLog()).toEqual([AWAY]);
    expect(twin?.redisLog().length).toBeLessThanOrEqual(1);
    expect(app.logText()).not.toContain(redis.password);
  });

  test('when it is back with nothing, the process that served gives no second allowance, and limits are shared', async () => {
    const [app, twin = app] = await startReplicas(2);
    const { key } = await app.createDeveloper('free');
    const { key: fresh } = await app.createDeveloper('free');
    expect(countOf(await burst([app], key, 10), 200)).toBe(10);
    await redis.stop();
    expect(countOf(await burst([app], key, 5), 429)).toBe(5);
    await redis.restart();
    await expect.poll(() => logAfterRequest(app), { timeout: 5000 }).toEqual([AWAY, BACK]);
    await expect.poll(() => logAfterRequest(twin), { timeout: 5000 }).toEqual([AWAY, BACK]);
    expect(countOf(await burst([app], key, 5), 429)).toBe(5);
    expect(countOf(await burst([app, twin], fresh, 40), 200)).toBe(10);
    expect(app.redisLog()).toEqual([AWAY, BACK]);
  });

  test('after a hang its memory counts again, with one line for the end of each outage', async () => {
    const [app, twin = app] = await startReplicas(2);
    const { key } = await app.createDeveloper('free');
    for (let outage = 1; outage <= 2; outage++) {
      redis.pause();
      await app.call('GET', '/v1/tools');
      redis.resume();
      const expected = Array.from({ length: outage }, () => [AWAY, BACK]).flat();
      await expect.poll(() => logAfterRequest(app), { timeout: 5000 }).toEqual(expected);
    }
    expect(countOf(await burst([app, twin], key, 30), 200)).toBe(10);
  });

  test.each([
    ['an address where nothing listens', () => 'redis://:secret-of-the-url@127.0.0.1:1'],
    ['a wrong password', () => redis.url.replace(redis.password, 'secret-of-the-url')],
    ['a server that is no Redis', () => database.url.replace(/^postgres(ql)?:/, 'redis:').replace(/\/[^/]*$/, '')],
  ])('with %s it starts with one warning, and never logs the password', async (_what, url) => {
    const app = await startLogged({ REDIS_URL: url() });
    const { key } = await app.createDeveloper('free');
    expect(countOf(await burst([app], key, 12), 200)).toBe(10);
    expect(app.redisLog()).toEqual([AWAY]);
    expect(app.logText()).not.toMatch(/secret-of-the-url/);
  });

  test('a Redis that hangs at the start delays it by a moment only', async () => {
    redis.pause();
    const app = await startLogged();
    expect((await app.call('GET', '/v1/tools')).status).toBe(200);
    expect(app.redisLog()).toEqual([AWAY]);
    redis.resume();
  });

  test('an unreadable password is a mistake of the settings that is not repeated', async () => {
    const start = startTestApp({ DATABASE_URL: database.url, REDIS_URL: 'redis://:%zz-secret@127.0.0.1:1' });
    await expect(start).rejects.toThrow(/^REDIS_URL holds a user name or password that is not validly/);
    await expect(start).rejects.not.toThrow('secret');
  });
});
