import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mintKey } from '../modules/keys/api-key.ts';
import { queryRows } from '../testing/query-rows.ts';
import { ADMIN_KEY, pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

async function rows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return queryRows(app.databaseUrl, sql, values);
}

async function statusAt(of: TestApp, key: string): Promise<number> {
  return (await of.call('GET', '/v1/tools', { key })).status;
}

async function limitAt(of: TestApp, key: string): Promise<string | null> {
  return (await of.call('GET', '/v1/tools', { key })).headers.get('x-ratelimit-limit');
}

/** A key with one character changed, which its checksum notices. */
function mistypedKey(): string {
  const key = mintKey();
  return key.slice(0, 4) + (key[4] === 'x' ? 'y' : 'x') + key.slice(5);
}

describe('creating', () => {
  test('the answer shows key and secret, and neither is stored', async () => {
    const { status, body } = await app.call('POST', '/v1/auth/api-keys', { body: {} });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^tsk_\w{38}$/),
      secret: expect.stringMatching(/^tss_\w{40}$/),
      name: 'Default Key',
      permissions: ['read', 'write'],
      tier: 'enterprise',
      message: expect.any(String),
    });
    const stored = JSON.stringify(await rows('select * from api_keys'));
    expect(stored).not.toContain(pickText(body, 'key'));
    expect(stored).not.toContain(pickText(body, 'secret'));
  });

  test('a request without a body gets the defaults', async () => {
    expect(await app.call('POST', '/v1/auth/api-keys')).toMatchObject({ status: 201, body: { name: 'Default Key' } });
  });

  test('a key never grants what its creator lacks', async () => {
    const { key } = await app.createKey(ADMIN_KEY, ['read', 'admin']);
    const excess = await app.call('POST', '/v1/auth/api-keys', { key, body: { permissions: ['read', 'write'] } });
    expect(excess).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    expect((await app.call('POST', '/v1/auth/api-keys', { key })).status).toBe(403);
    expect((await app.call('POST', '/v1/auth/api-keys', { key, body: { permissions: ['read'] } })).status).toBe(201);
  });

  test.each([
    [{ permissions: ['root'] }, 'permissions[0]'],
    [{ permissions: [] }, 'permissions'],
    [{ permissions: 'read' }, 'permissions'],
    [{ permissions: ['read', 'read'] }, 'permissions'],
    [{ permissions: null }, 'permissions'],
    [{ name: 5 }, 'name'],
    [{ name: '' }, 'name'],
  ])('%j is refused by name', async (body, field) => {
    const answer = await app.call('POST', '/v1/auth/api-keys', { body });
    expect(answer.status).toBe(400);
    expect(pickText(answer.body, 'error', 'message')).toContain(field);
  });

  test('tenant and tier in the body change nothing', async () => {
    const other = await app.createDeveloper('free');
    const { body } = await app.call('POST', '/v1/auth/api-keys', {
      key: other.key,
      body: { developerId: 'dev_x', tier: 'enterprise', isOperator: true },
    });
    expect(pick(body, 'tier')).toBe('free');
  });
});

describe('listing and revoking', () => {
  test('the list shows the first 12 characters of each key of this developer alone', async () => {
    const developer = await app.createDeveloper();
    const created = await app.createKey(developer.key, ['read']);
    const { body } = await app.call('GET', '/v1/auth/api-keys', { key: developer.key });
    expect(body).toEqual({
      keys: [
        expect.objectContaining({ _id: developer.keyId, key: developer.key.slice(0, 12) }),
        {
          _id: created.id,
          key: created.key.slice(0, 12),
          name: 'Default Key',
          permissions: ['read'],
          tier: 'enterprise',
          enabled: true,
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        },
      ],
    });
  });

  test('a revoked key gets 401 on the very next request, and is listed as disabled', async () => {
    const { id, key } = await app.createKey(ADMIN_KEY, ['read']);
    expect((await app.call('GET', '/v1/tools', { key })).status).toBe(200);
    expect(await app.call('DELETE', `/v1/auth/api-keys/${id}`)).toMatchObject({ status: 200, body: { success: true } });
    expect((await app.call('GET', '/v1/tools', { key })).status).toBe(401);
    const { body } = await app.call('GET', '/v1/auth/api-keys');
    expect(JSON.stringify(body)).toContain(`"_id":"${id}"`);
  });

  test('a foreign key, an absent one and nonsense answer alike', async () => {
    const foreign = await app.createDeveloper();
    const mine = await app.createDeveloper();
    for (const id of [foreign.keyId, 'key_00000000000000000000000000', 'nonsense', '%27%20or%201=1--']) {
      const answer = await app.call('DELETE', `/v1/auth/api-keys/${id}`, { key: mine.key });
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
    }
    expect((await app.call('GET', '/v1/tools', { key: foreign.key })).status).toBe(200);
  });
});

describe('another process', () => {
  let twin: TestApp;
  beforeAll(async () => {
    twin = await startTestApp({ DATABASE_URL: app.databaseUrl });
  });
  afterAll(() => twin.stop());

  test('knows a new key at once', async () => {
    for (let i = 0; i < 5; i++) {
      const { key } = await app.createDeveloper();
      expect(await statusAt(twin, key)).toBe(200);
    }
  });

  test.each([
    ['within a second', async () => []],
    [
      'within a second, even when the connections that tell of changes are killed',
      () =>
        rows(`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name like 'tessera listener%'`),
    ],
  ])('follows revocations and tiers %s', async (_when, disturb) => {
    const { id, key } = await app.createKey(ADMIN_KEY, ['read']);
    const developer = await app.createDeveloper('basic');
    expect(await statusAt(twin, key)).toBe(200);
    expect(await limitAt(twin, developer.key)).toBe('100');
    await Promise.all([
      disturb(),
      app.call('DELETE', `/v1/auth/api-keys/${id}`),
      app.call('PATCH', `/v1/admin/developers/${developer.id}`, { body: { tier: 'pro' } }),
    ]);
    const timeout = { timeout: 1000, interval: 20 };
    await expect.poll(() => statusAt(twin, key), timeout).toBe(401);
    await expect.poll(() => limitAt(twin, developer.key), timeout).toBe('500');
  });

  test('accepts a key that was given to a third at its start', async () => {
    const given = 'another-bootstrap-key-0123456789abcdefg';
    expect(await statusAt(twin, given)).toBe(401);
    const third = await startTestApp({ DATABASE_URL: app.databaseUrl, BOOTSTRAP_API_KEY: given });
    await third.stop();
    await expect.poll(() => statusAt(twin, given)).toBe(200);
  });
});

describe('warm keys', () => {
  test('a warm key costs no query, and 1,000 different pieces of junk cost none', async () => {
    const { key } = await app.createKey(ADMIN_KEY, ['read']);
    await app.call('GET', '/v1/nothing', { key });
    const junk = Array.from({ length: 1000 }, mistypedKey);
    // With the table away, whatever asks it fails.
    await rows('alter table api_keys rename to api_keys_away');
    try {
      const refused = await Promise.all(junk.map((value) => app.call('GET', '/v1/nothing', { key: value })));
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
      expect((await app.call('GET', '/v1/nothing', { key })).status).toBe(404);
      expect((await app.call('GET', '/v1/nothing', { key: 'junk' })).status).toBe(401);
      expect((await app.call('GET', '/v1/nothing', { key: mintKey() })).status).toBe(500);
    } finally {
      await rows('alter table api_keys_away rename to api_keys');
    }
  });
});

describe('usage', () => {
  test('counts are exact at once, and in the database within a batch', async () => {
    const { key, keyId } = await app.createDeveloper('basic');
    for (let i = 0; i < 4; i++) await app.call('GET', '/v1/nothing', { key });
    expect((await app.call('GET', '/v1/auth/usage', { key })).body).toEqual({
      tier: 'basic',
      usage: { today: 5, month: 5 },
      limits: { perDay: 10_000, perMinute: 100 },
    });
    await expect
      .poll(() => rows('select requests::int from usage_counters where key_id = $1', [keyId]))
      .toEqual([{ requests: 5 }]);
  });

  test('every authenticated call leaves a row in the log, and others none', async () => {
    const { key, id, keyId } = await app.createDeveloper();
    await app.call('GET', '/v1/tools?appId=secret', { key });
    await app.call('POST', '/v1/tools', { key, body: '{' });
    await app.call('GET', '/v1/tools', { key: 'junk' });
    await expect
      .poll(() =>
        rows('select method, endpoint, status, key_id from call_log where developer_id = $1 order by at', [id]),
      )
      .toEqual([
        { method: 'GET', endpoint: '/v1/tools', status: 200, key_id: keyId },
        { method: 'POST', endpoint: '/v1/tools', status: 400, key_id: keyId },
      ]);
  });
});

describe('limits', () => {
  test('of 50 concurrent requests of a free key exactly 10 pass; the rest are 429 with Retry-After', async () => {
    const { key } = await app.createDeveloper('free');
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.call('GET', '/v1/tools', { key })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(40);
    for (const { headers, body } of refused) {
      expect(pick(body, 'error', 'code')).toBe('RATE_LIMITED');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(50);
      expect(headers.get('x-ratelimit-remaining')).toBe('0');
    }
    const remaining = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(new Set(remaining)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  });

  test('refused requests use nothing up', async () => {
    const { key, keyId } = await app.createDeveloper('free');
    await Promise.all(Array.from({ length: 30 }, () => app.call('GET', '/v1/tools', { key })));
    await expect
      .poll(() => rows('select requests::int from usage_counters where key_id = $1', [keyId]))
      .toEqual([{ requests: 10 }]);
  });

  test.each([
    ['without a key', 401, { key: undefined }, '100000'],
    ['with junk', 401, { key: 'junk' }, '100000'],
    ['for an unknown path', 404, { path: '/v1/nothing' }, '10000'],
    ['that is malformed', 400, { path: '/v1/auth/api-keys', method: 'POST', body: '{' }, '10000'],
    ['outside the API', 200, { path: '/healthz' }, '100000'],
  ])('a request %s is answered %i with limit headers', async (_what, status, call, limit) => {
    const { method = 'GET', path = '/v1/tools', ...options }: { method?: string; path?: string; key?: string } = call;
    const before = Math.floor(Date.now() / 1000);
    const answer = await app.call(method, path, options);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-ratelimit-limit')).toBe(limit);
    expect(Number(answer.headers.get('x-ratelimit-remaining'))).toBeLessThan(Number(limit) + 1);
    expect(Number(answer.headers.get('x-ratelimit-reset'))).toBeGreaterThanOrEqual(before);
  });

  test('addresses without a valid key have an allowance of their own', async () => {
    const small = await startTestApp({ DATABASE_URL: app.databaseUrl, ANONYMOUS_PER_MINUTE: '3' });
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await small.call('GET', '/v1/tools', { key: 'junk' })).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await small.call('GET', '/v1/tools')).status).toBe(200);
    await small.stop();
  });
});
