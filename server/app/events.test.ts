import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EVENTS } from '../../contract/events/index.ts';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

const EVENT_TYPES = EVENTS.map(({ type }) => type);
const UNKNOWN_ID = 'hook_01kagc2y5jv6f3w9c0m4x7t8zb';
const RECEIVER_URL = 'http://127.0.0.1:9';

let app: TestApp;
let strict: TestApp;
let developer: { id: string; key: string };

beforeAll(async () => {
  app = await startTestApp();
  strict = await startTestApp({ DATABASE_URL: app.databaseUrl, OUTBOUND_PRIVATE: 'deny' });
});
afterAll(async () => {
  await strict.stop();
  await app.stop();
});
beforeEach(async () => {
  developer = await app.createDeveloper();
});

function call(method: string, path: string, body?: unknown) {
  return app.call(method, `/v1/events${path}`, { key: developer.key, body });
}

function subscribe(more: object = {}) {
  return call('POST', '/webhooks', { event: 'tool.executed', url: `${RECEIVER_URL}/hook`, ...more });
}

async function subscribed(more: object = {}): Promise<string> {
  return pickText((await subscribe(more)).body, '_id');
}

async function listed(query = ''): Promise<unknown[]> {
  const webhooks = pick((await call('GET', `/webhooks${query}`)).body, 'webhooks');
  return Array.isArray(webhooks) ? webhooks : [];
}

describe('the life of a subscription', () => {
  test('created, listed, changed, deleted, and the secret never shown', async () => {
    const created = await subscribe({ secret: 'my own secret', filter: { toolName: 'get_order' } });
    const id = pickText(created.body, '_id');
    const record = {
      _id: expect.stringMatching(/^hook_/),
      developerId: developer.id,
      event: 'tool.executed',
      url: `${RECEIVER_URL}/hook`,
      filter: { toolName: 'get_order' },
      enabled: true,
      hasSecret: true,
      lastTriggered: null,
      failCount: 0,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    };
    expect(created).toMatchObject({ status: 201, body: { id, ...record } });
    expect((await call('GET', '/webhooks')).body).toEqual({ webhooks: [record], eventTypes: EVENT_TYPES });

    const changed = await call('PATCH', `/webhooks/${id}`, { url: `${RECEIVER_URL}/new`, filter: null, secret: null });
    const { filter: _gone, ...rest } = record;
    expect(changed).toMatchObject({ status: 200 });
    expect(changed.body).toEqual({ ...rest, url: `${RECEIVER_URL}/new`, hasSecret: false });
    expect(await listed()).toEqual([changed.body]);

    expect(await call('DELETE', `/webhooks/${id}`)).toMatchObject({ status: 200, body: { success: true } });
    expect(await listed()).toEqual([]);
    expect((await call('DELETE', `/webhooks/${id}`)).status).toBe(404);
  });

  test('pages hold every subscription once, newest first', async () => {
    const ids: string[] = [];
    for (const event of EVENT_TYPES.slice(0, 5)) ids.push(await subscribed({ event }));
    const seen: string[] = [];
    for (let query = '?limit=2'; ;) {
      const { body } = await call('GET', `/webhooks${query}`);
      const page = pick(body, 'webhooks');
      if (Array.isArray(page)) seen.push(...page.map((webhook) => pickText(webhook, '_id')));
      if (!JSON.stringify(body).includes('nextCursor')) break;
      query = `?limit=2&cursor=${pickText(body, 'nextCursor')}`;
    }
    // Ids of one millisecond are in no order among themselves.
    expect(seen).toEqual(ids.toSorted().toReversed());
    expect((await listed()).map((webhook) => pickText(webhook, '_id'))).toEqual(seen);
  });

  test('the event types are those of the contract', async () => {
    expect((await call('GET', '/types')).body).toEqual({ eventTypes: EVENT_TYPES });
  });

  test('a foreign, an unknown and a malformed id are the same 404', async () => {
    const mine = await subscribed();
    const other = await app.createDeveloper();
    for (const [method, path, body] of [
      ['PATCH', '', { enabled: false }],
      ['DELETE', '', undefined],
      ['GET', '/deliveries', undefined],
      ['POST', '/test', undefined],
      ['POST', '/recover', { since: '2026-01-01T00:00:00Z' }],
    ] as const) {
      for (const id of [mine, UNKNOWN_ID, 'nonsense', '%00', mine.toUpperCase()]) {
        const answer = await app.call(method, `/v1/events/webhooks/${id}${path}`, { key: other.key, body });
        const message = `There is no webhook "${decodeURIComponent(id)}".`;
        expect(answer).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND', message } } });
      }
    }
    expect(await listed()).toMatchObject([{ _id: mine, enabled: true }]);
  });

  test('a key that only reads lists, and changes nothing', async () => {
    const id = await subscribed();
    const { key } = await app.createKey(developer.key, ['read']);
    expect((await app.call('GET', '/v1/events/webhooks', { key })).status).toBe(200);
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/test`],
      ['POST', `/${id}/recover`],
    ] as const) {
      const body = method === 'DELETE' ? undefined : {};
      expect((await app.call(method, `/v1/events/webhooks${path}`, { key, body })).status).toBe(403);
    }
  });
});

describe('what is refused', () => {
  test.each([
    [{ event: undefined }, 'event is required'],
    [{ event: 'tool.exploded' }, `event must be one of ${EVENT_TYPES.join(', ')}`],
    [{ url: undefined }, 'url is required'],
    [{ url: '' }, 'url must not be empty'],
    [{ url: 7 }, 'url must be a string'],
    [{ url: '/relative' }, 'url: The address is not a valid URL'],
    [{ url: 'ftp://example.com/' }, 'url: Only http and https'],
    [{ url: 'javascript:alert(1)' }, 'url: Only http and https'],
    [{ url: 'https://user:pass@example.com/' }, 'url: The address must not contain a user name'],
    [{ url: 'https://example.com/#part' }, 'url must not have a fragment'],
    [{ url: 'https://example.com/\n' }, 'url must not contain control characters'],
    [{ secret: '' }, 'secret must not be empty'],
    [{ secret: 'a\nb' }, 'secret must not contain control characters'],
    [{ secret: 'x'.repeat(257) }, 'secret '],
    [{ secret: 'whsec_' }, 'secret must be base64 of at least 16 bytes'],
    [{ secret: 'whsec_MDEyMzQ1Njc4OWFiY2Rl' }, 'secret must be base64 of at least 16 bytes'],
    [{ secret: 'whsec_not base64 at all, however long' }, 'secret must be base64 after'],
    [{ filter: 'toolName' }, 'filter must be an object'],
    [{ filter: ['toolName'] }, 'filter must be an object'],
    [{ filter: null }, 'filter must be an object'],
    [{ filter: { a: 'x'.repeat(17_000) } }, 'filter is larger than 16 kB'],
  ])('%j', async (part, message) => {
    const { status, body } = await subscribe(part);
    expect({ status, code: pick(body, 'error', 'code') }).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(pickText(body, 'error', 'message')).toContain(message);
    expect(await listed()).toEqual([]);
  });

  test.each([
    [{}, 'The body'],
    [{ url: 'ftp://example.com/' }, 'url: Only http and https'],
    [{ secret: 'whsec_x' }, 'secret must be base64 after'],
    [{ filter: 'toolName' }, 'filter'],
    [{ enabled: 'no' }, 'enabled must be a boolean'],
  ])('as a change: %j', async (change, message) => {
    const id = await subscribed();
    const before = await listed();
    const { status, body } = await call('PATCH', `/webhooks/${id}`, change);
    expect(status).toBe(400);
    expect(pickText(body, 'error', 'message')).toContain(message);
    expect(await listed()).toEqual(before);
  });

  test('an address that this server does not call, when it is created and when it is changed', async () => {
    const id = await subscribed();
    for (const url of ['http://127.0.0.1:1/', 'http://localhost/', 'http://169.254.169.254/', 'http://[::1]/']) {
      const body = { event: 'tool.failed', url };
      for (const answer of [
        await strict.call('POST', '/v1/events/webhooks', { key: developer.key, body }),
        await strict.call('PATCH', `/v1/events/webhooks/${id}`, { key: developer.key, body: { url } }),
      ]) {
        expect(answer.status).toBe(400);
        expect(pickText(answer.body, 'error', 'message')).toMatch(/^url: .*special address/);
      }
    }
    expect(await listed()).toMatchObject([{ url: `${RECEIVER_URL}/hook` }]);
  });

  test('a subscription beyond 1,000, also of two at once; another developer is free to subscribe', async () => {
    await queryRows(
      app.databaseUrl,
      `insert into webhook_subscriptions (developer_id, id, event, url)
        select $1, 'hook_' || lpad(n::text, 26, '0'), 'tool.failed', 'http://example.com/' from generate_series(1, 999) n`,
      [developer.id],
    );
    const answers = await Promise.all([subscribe(), subscribe(), subscribe()]);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    expect(await listed()).toHaveLength(1000);
    developer = await app.createDeveloper();
    expect((await subscribe()).status).toBe(201);
  });
});
