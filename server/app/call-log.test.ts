import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

const DAY_MS = 86_400_000;

let app: TestApp;
let developer: { id: string; key: string; keyId: string };

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
beforeEach(async () => {
  developer = await app.createDeveloper();
});

function call(method: string, path: string, body?: unknown) {
  return app.call(method, path, { key: developer.key, body });
}

async function logs(query = ''): Promise<Record<string, unknown>[]> {
  const { status, body } = await call('GET', `/v1/events/logs${query}`);
  expect(status).toBe(200);
  return asEntries(pick(body, 'logs'));
}

function asEntries(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value)) throw new Error('not a list');
  return value;
}

async function makePartition(day: string): Promise<void> {
  const end = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
  await queryRows(
    app.databaseUrl,
    `create table if not exists call_log_${day.replaceAll('-', '_')} partition of call_log
      for values from ('${day} 00:00:00+00') to ('${end} 00:00:00+00')`,
  );
}

/** Calls of the last days, `perDay` in each, as if they had been made. */
async function addHistory(days: number, perDay: number): Promise<void> {
  for (let ago = 1; ago <= days; ago++) {
    const day = new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
    await makePartition(day);
    await queryRows(
      app.databaseUrl,
      `insert into call_log (developer_id, key_id, request_id, method, endpoint, status, at, response_time_ms)
        select $1, 'key', 'req', 'GET', '/v1/old/' || n, 200, $2::timestamptz + n / 3 * interval '1 millisecond', 1
        from generate_series(1, $3::int) n`,
      [developer.id, `${day}T00:00:00Z`, perDay],
    );
  }
}

/** Reads a list from its first page to its last. */
async function pages(query: string): Promise<{ ids: unknown[]; sizes: number[] }> {
  const ids: unknown[] = [];
  const sizes: number[] = [];
  let cursor = '';
  do {
    const { body } = await call('GET', `/v1/events/logs?${query}${cursor}`);
    const found = asEntries(pick(body, 'logs'));
    ids.push(...found.map(({ _id }) => _id));
    sizes.push(found.length);
    const hasNext = typeof body === 'object' && body !== null && 'nextCursor' in body;
    cursor = hasNext ? `&cursor=${pickText(body, 'nextCursor')}` : '';
  } while (cursor !== '');
  return { ids, sizes };
}

describe('the log of calls', () => {
  test('holds every call that was answered, newest first, in the words of the contract', async () => {
    const before = Date.now();
    await call('GET', '/v1/tools?limit=5');
    await call('GET', '/v1/tools/none');
    await call('POST', '/v1/tools', {});
    const [post, missing, list, ...others] = await logs();
    expect(others).toEqual([]);
    expect(list).toEqual({
      _id: expect.stringMatching(/^call_\d+$/),
      userId: developer.id,
      endpoint: '/v1/tools',
      method: 'GET',
      status: 200,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      responseTime: expect.any(Number),
    });
    expect(missing).toMatchObject({ endpoint: '/v1/tools/none', method: 'GET', status: 404 });
    expect(post).toMatchObject({ endpoint: '/v1/tools', method: 'POST', status: 400 });
    const at = Date.parse(String(list?.['timestamp']));
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
    expect(list?.['responseTime']).toBeGreaterThan(0);
  });

  test('holds a call the moment it is answered', async () => {
    for (let round = 0; round < 20; round++) {
      await call('GET', `/v1/nothing/${round}`);
      expect((await logs('?limit=1'))[0]).toMatchObject({ endpoint: `/v1/nothing/${round}` });
    }
  });

  test('is of the caller alone, with all of their keys', async () => {
    const { key } = await app.createKey(developer.key, ['read']);
    await app.call('GET', '/v1/by-other-key', { key });
    const stranger = await app.createDeveloper();
    await app.call('GET', '/v1/by-stranger', { key: stranger.key });
    expect((await logs()).map(({ endpoint }) => endpoint)).toEqual(['/v1/by-other-key', '/v1/auth/api-keys']);
    const { body } = await app.call('GET', '/v1/events/logs', { key: stranger.key });
    expect(asEntries(pick(body, 'logs')).map(({ endpoint }) => endpoint)).toEqual(['/v1/by-stranger']);
  });

  test('needs read', async () => {
    const { key } = await app.createKey(developer.key, ['write']);
    expect((await app.call('GET', '/v1/events/logs', { key })).status).toBe(403);
    expect((await app.call('GET', '/v1/events/logs', { key: 'wrong' })).status).toBe(401);
  });
});

describe('a page', () => {
  test('has 100 entries unless another limit is given', async () => {
    await addHistory(1, 1500);
    expect(await logs()).toHaveLength(100);
    expect(await logs('?limit=1')).toHaveLength(1);
    expect(await logs('?limit=1000')).toHaveLength(1000);
  });

  test('follows the one before over days, whatever else is called: nothing twice, nothing left out', async () => {
    await addHistory(3, 100);
    const { ids, sizes } = await pages('limit=70&endpoint=/v1/old/');
    expect(new Set(ids).size).toBe(300);
    expect(ids).toHaveLength(300);
    expect(sizes).toEqual([70, 70, 70, 70, 20]);
  });

  test('has no next when it ends with the last entry', async () => {
    await addHistory(2, 5);
    const body = (await call('GET', '/v1/events/logs?limit=10')).body;
    expect(body).not.toHaveProperty('nextCursor');
    expect((await pages('limit=5&endpoint=/v1/old/')).sizes).toEqual([5, 5]);
  });

  test('of a filter that few pass ends in time, and goes on', async () => {
    await addHistory(2, 25_000);
    const first = await call('GET', '/v1/events/logs?endpoint=/v1/old/25000&limit=10');
    // The newest call of each day is the one that passes.
    expect(pick(first.body, 'logs')).toHaveLength(1);
    expect(pickText(first.body, 'nextCursor')).not.toBe('');
    expect((await pages('endpoint=/v1/old/25000&limit=10')).ids).toHaveLength(2);
  });
});

describe('a filter', () => {
  beforeEach(async () => {
    await call('GET', '/v1/tools');
    await call('GET', '/v1/tools/a_b');
    await call('GET', '/v1/tools/axb');
    await call('GET', '/v1/%25');
    await call('DELETE', '/v1/tools/a_b');
  });

  test.each([
    ['endpoint=/v1/tools', ['/v1/tools/a_b', '/v1/tools/axb', '/v1/tools/a_b', '/v1/tools']],
    ['endpoint=/v1/tools/a_', ['/v1/tools/a_b', '/v1/tools/a_b']],
    ['endpoint=%25', []],
    ['endpoint=/v1/%2525', ['/v1/%25']],
    ['endpoint=tools', []],
    ["endpoint=/v1/tools'", []],
    ['method=DELETE', ['/v1/tools/a_b']],
    ['status=200', ['/v1/tools']],
    ['endpoint=/v1/tools/&method=GET&status=404', ['/v1/tools/axb', '/v1/tools/a_b']],
    ['status=503', []],
  ])('%s gives %j', async (query, endpoints) => {
    expect((await logs(`?${query}`)).map(({ endpoint }) => endpoint)).toEqual(endpoints);
  });
});

test.each([
  ['limit=0', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=1001', 'limit'],
  ['limit=ten', 'limit'],
  ['status=99', 'status'],
  ['status=ok', 'status'],
  ['method=get', 'method'],
  ['endpoint=%00', 'endpoint'],
  ['cursor=nonsense', 'cursor'],
  ['cursor=OTk5OTk5OTk5OTk5OTk5OTk5OTkuMQ', 'cursor'],
  ['cursor=', 'cursor'],
])('?%s is refused by name', async (query, field) => {
  const { status, body } = await call('GET', `/v1/events/logs?${query}`);
  expect(status).toBe(400);
  expect(pick(body, 'error', 'code')).toBe('INVALID_REQUEST');
  expect(pickText(body, 'error', 'message')).toMatch(new RegExp(`^${field} `));
});

test('a cursor of the far future, or of nobody, is an ordinary position', async () => {
  await call('GET', '/v1/tools');
  const future = Buffer.from('999999999999999.5').toString('base64url');
  expect(await logs(`?cursor=${future}`)).not.toEqual([]);
  expect(await logs(`?cursor=${Buffer.from('0.0').toString('base64url')}`)).toEqual([]);
});

test('a page touches only the days it shows, whatever the age of the log', async () => {
  await addHistory(29, 200);
  await queryRows(app.databaseUrl, 'analyze call_log');
  await queryRows(app.databaseUrl, 'select pg_stat_reset()');
  const touched = async (): Promise<unknown[]> => {
    const rows = await queryRows(
      app.databaseUrl,
      `select relname from pg_stat_user_tables
        where relname like 'call_log_%' and seq_scan + coalesce(idx_scan, 0) > 0`,
    );
    return rows.map(({ relname }) => relname);
  };
  expect(await logs('?limit=250')).toHaveLength(250);
  await expect.poll(touched, { timeout: 15_000 }).not.toEqual([]);
  // Today and the two days before; tomorrow is looked into, since nothing says that it has not begun. The planner may
  // look at the ends of an index or two more.
  expect((await touched()).length).toBeLessThanOrEqual(6);
});

test('calls older than CALL_LOG_DAYS are given up by the job that runs every hour', async () => {
  const old = '2020-02-29';
  await makePartition(old);
  await queryRows(app.databaseUrl, `select graphile_worker.add_job('prune')`);
  const partition = () => queryRows(app.databaseUrl, `select to_regclass('call_log_2020_02_29')::text as name`);
  await expect.poll(partition, { timeout: 10_000 }).toEqual([{ name: null }]);
});
