import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mintKey } from '../modules/keys/api-key.ts';
import { ADMIN_KEY, pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

async function rows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, values)).rows;
  } finally {
    await client.end();
  }
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
    [{ name: 5 }, 'name'],
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

  test('another process refuses a revoked key within a second', async () => {
    const twin = await startTestApp({ DATABASE_URL: app.databaseUrl });
    const { id, key } = await app.createKey(ADMIN_KEY, ['read']);
    expect((await twin.call('GET', '/v1/tools', { key })).status).toBe(200);
    await app.call('DELETE', `/v1/auth/api-keys/${id}`);
    await expect.poll(async () => (await twin.call('GET', '/v1/tools', { key })).status, { timeout: 1000 }).toBe(401);
    await twin.stop();
  });
});

describe('warm keys', () => {
  test('a warm key costs no query, and junk never costs one', async () => {
    const { key } = await app.createKey(ADMIN_KEY, ['read']);
    await app.call('GET', '/v1/nothing', { key });
    // With the table away, whatever asks it fails.
    await rows('alter table api_keys rename to api_keys_away');
    try {
      expect((await app.call('GET', '/v1/nothing', { key })).status).toBe(404);
      expect((await app.call('GET', '/v1/nothing', { key: 'junk' })).status).toBe(401);
      expect((await app.call('GET', '/v1/nothing', { key: `${mintKey().slice(0, -1)}!` })).status).toBe(401);
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

  test('addresses without a valid key have an allowance of their own', async () => {
    const small = await startTestApp({ DATABASE_URL: app.databaseUrl, ANONYMOUS_PER_MINUTE: '3' });
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await small.call('GET', '/v1/tools', { key: 'junk' })).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await small.call('GET', '/v1/tools')).status).toBe(200);
    await small.stop();
  });
});

describe('developers', () => {
  test('only admin keys of the first developer may administer', async () => {
    const other = await app.createDeveloper();
    for (const [method, path] of [
      ['POST', '/v1/admin/developers'],
      ['GET', '/v1/admin/developers'],
      ['PATCH', `/v1/admin/developers/${other.id}`],
    ] as const) {
      const body = method === 'GET' ? undefined : { name: 'x', tier: 'pro' };
      expect((await app.call(method, path, { key: other.key, body })).status).toBe(403);
    }
  });

  test('a new tier applies to the very next request', async () => {
    const { id, key } = await app.createDeveloper('free');
    expect((await app.call('GET', '/v1/tools', { key })).headers.get('x-ratelimit-limit')).toBe('10');
    await app.call('PATCH', `/v1/admin/developers/${id}`, { body: { tier: 'pro' } });
    expect((await app.call('GET', '/v1/tools', { key })).headers.get('x-ratelimit-limit')).toBe('500');
  });

  test('a developer who is switched off gets 401 until switched on again', async () => {
    const { id, key } = await app.createDeveloper();
    await app.call('PATCH', `/v1/admin/developers/${id}`, { body: { enabled: false } });
    expect((await app.call('GET', '/v1/tools', { key })).status).toBe(401);
    await app.call('PATCH', `/v1/admin/developers/${id}`, { body: { enabled: true } });
    expect((await app.call('GET', '/v1/tools', { key })).status).toBe(200);
  });

  test('the first developer cannot be switched off', async () => {
    const { body } = await app.call('GET', '/v1/admin/developers?limit=1');
    const id = pickText(body, 'developers', 0, 'id');
    const answer = await app.call('PATCH', `/v1/admin/developers/${id}`, { body: { enabled: false } });
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  });

  test('pages hold every developer once', async () => {
    const { body } = await app.call('GET', '/v1/admin/developers');
    const total = Number(pick(body, 'total'));
    const seen = new Set<string>();
    let cursor = '';
    do {
      const page = (await app.call('GET', `/v1/admin/developers?limit=3${cursor && `&cursor=${cursor}`}`)).body;
      const developers = pick(page, 'developers');
      if (!Array.isArray(developers)) throw new Error('no developers');
      for (const developer of developers) seen.add(pickText(developer, 'id'));
      cursor = JSON.stringify(page).includes('nextCursor') ? pickText(page, 'nextCursor') : '';
    } while (cursor !== '');
    expect(seen.size).toBe(total);
  });
});
