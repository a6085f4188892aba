import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';

const UNKNOWN_ID = 'dlv_01kagc2y5jv6f3w9c0m4x7t8zb';
const ATTEMPT = { at: '2026-01-31T08:15:30.123Z', status: 503, durationMs: 12.5, answer: 'busy', error: 'HTTP 503.' };
const MESSAGE = { event: 'tool.failed', timestamp: '2026-01-31T08:15:30.000Z', data: { toolName: 'a', input: {} } };

/** Without a worker, so that nothing is sent and what is due stays so. */
let app: TestApp;
let developer: { id: string; key: string };
let webhookId: string;
let count = 0;

beforeAll(async () => {
  app = await startTestApp({ ROLE: 'api' });
});
afterAll(() => app.stop());
beforeEach(async () => {
  developer = await app.createDeveloper();
  const body = { event: 'tool.failed', url: 'http://127.0.0.1:9/hook' };
  webhookId = pickText((await call('POST', '/webhooks', body)).body, '_id');
});

function call(method: string, path: string, body?: unknown) {
  return app.call(method, `/v1/events${path}`, { key: developer.key, body });
}

interface Stored {
  status?: 'pending' | 'delivered' | 'failed';
  /** Seconds from now. */
  dueIn?: number;
  age?: string;
  reason?: string;
}

/** A delivery as the courier leaves it; gives its id. Later ones have greater ids. */
async function stored({ status = 'failed', dueIn = -60, age = '0', reason }: Stored = {}): Promise<string> {
  const suffix = String(++count).padStart(26, '0');
  await queryRows(
    app.databaseUrl,
    `with message as (insert into webhook_messages (developer_id, id, event, body, created_at)
        values ($1, $2, 'tool.failed', $3, '2026-01-31T08:15:30.000Z'))
      insert into webhook_deliveries (developer_id, id, subscription_id, message_id, status, due_at, attempt_count,
        attempts, reason, created_at)
      values ($1, $4, $5, $2, $6, now() + $7 * interval '1 second', 8, $8, $9, now() - $10::interval)`,
    [
      developer.id,
      `evt_${suffix}`,
      JSON.stringify(MESSAGE),
      `dlv_${suffix}`,
      webhookId,
      status,
      dueIn,
      JSON.stringify([ATTEMPT]),
      reason ?? null,
      age,
    ],
  );
  return `dlv_${suffix}`;
}

async function deliveries(query = ''): Promise<unknown[]> {
  const found = pick((await call('GET', `/webhooks/${webhookId}/deliveries${query}`)).body, 'deliveries');
  return Array.isArray(found) ? found : [];
}

async function ids(query = ''): Promise<string[]> {
  return (await deliveries(query)).map((delivery) => pickText(delivery, '_id'));
}

/** What the courier would see of a delivery. */
async function scheduleOf(id: string): Promise<Record<string, unknown>> {
  const [row] = await queryRows(
    app.databaseUrl,
    `select status, attempt_count as attempts, due_at <= now() as "isDue", reason from webhook_deliveries where id = $1`,
    [id],
  );
  return row ?? {};
}

/** How many times senders are woken while `run` runs. */
async function wakesDuring(run: () => Promise<unknown>): Promise<number> {
  const client = new Client({ connectionString: app.databaseUrl });
  await client.connect();
  let wakes = 0;
  client.on('notification', () => wakes++);
  try {
    await client.query('listen webhook_deliveries');
    await run();
    // Notifications come before the answer to whatever is asked after their commit.
    await client.query('select 1');
    return wakes;
  } finally {
    await client.end();
  }
}

describe('the log of deliveries', () => {
  test('shows each delivery, and with its message when it is read alone', async () => {
    const id = await stored({ reason: 'Every attempt failed.' });
    const wire = {
      _id: id,
      webhookId,
      eventId: id.replace('dlv', 'evt'),
      event: 'tool.failed',
      status: 'failed',
      reason: 'Every attempt failed.',
      attempts: [ATTEMPT],
      createdAt: expect.any(String),
    };
    expect(await deliveries()).toEqual([wire]);
    expect((await call('GET', `/deliveries/${id}`)).body).toEqual({ ...wire, body: MESSAGE });
    const pending = await stored({ status: 'pending', dueIn: 300 });
    expect((await call('GET', `/deliveries/${pending}`)).body).toMatchObject({
      status: 'pending',
      nextAttemptAt: expect.stringMatching(/Z$/),
    });
  });

  test('is paged newest first, and narrowed to a status', async () => {
    const all: string[] = [];
    for (const status of ['failed', 'delivered', 'pending', 'failed', 'failed'] as const) {
      all.push(await stored({ status }));
    }
    expect(await ids()).toEqual(all.toReversed());
    const failed = [all[4], all[3], all[0]];
    const first = await call('GET', `/webhooks/${webhookId}/deliveries?status=failed&limit=2`);
    expect(first.body).toMatchObject({ deliveries: failed.slice(0, 2).map((_id) => ({ _id })) });
    expect(await ids(`?status=failed&limit=2&cursor=${pickText(first.body, 'nextCursor')}`)).toEqual(failed.slice(2));
    for (const query of ['limit=0', 'limit=201', 'status=lost']) {
      expect((await call('GET', `/webhooks/${webhookId}/deliveries?${query}`)).status).toBe(400);
    }
  });

  test('holds 50 to a page unless asked otherwise', async () => {
    for (let index = 0; index < 51; index++) await stored();
    expect(await ids()).toHaveLength(50);
    expect(await ids('?limit=200')).toHaveLength(51);
  });

  test('ends with its subscription', async () => {
    const id = await stored();
    await call('DELETE', `/webhooks/${webhookId}`);
    expect((await call('GET', `/deliveries/${id}`)).status).toBe(404);
  });

  test('does not show, nor send, what is somebody else’s', async () => {
    const id = await stored();
    developer = await app.createDeveloper();
    for (const path of [id, UNKNOWN_ID, 'nonsense']) {
      for (const answer of [
        await call('GET', `/deliveries/${path}`),
        await call('POST', `/deliveries/${path}/redeliver`),
      ]) {
        const message = `There is no delivery "${path}".`;
        expect(answer).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND', message } } });
      }
    }
    expect(await scheduleOf(id)).toMatchObject({ status: 'failed', attempts: 8 });
  });
});

describe('sending a delivery again', () => {
  test.each([
    { status: 'failed', reason: 'Every attempt failed.' },
    { status: 'delivered' },
    { status: 'pending', dueIn: 3600 },
  ] as const)('when it is %j', async (state) => {
    const id = await stored(state);
    let answer: unknown;
    const wakes = await wakesDuring(async () => {
      answer = (await call('POST', `/deliveries/${id}/redeliver`)).body;
    });
    expect(answer).toMatchObject({ _id: id, status: 'pending', attempts: [ATTEMPT] });
    expect(answer).not.toHaveProperty('reason');
    expect(Date.parse(pickText(answer, 'nextAttemptAt'))).toBeLessThanOrEqual(Date.now() + 1000);
    expect(await scheduleOf(id)).toEqual({ status: 'pending', attempts: 0, isDue: true, reason: null });
    expect(wakes).toBe(1);
  });

  test('is refused while it is due within the minute anyway', async () => {
    const id = await stored({ status: 'pending', dueIn: 30 });
    const { status, body } = await call('POST', `/deliveries/${id}/redeliver`);
    expect({ status, code: pick(body, 'error', 'code') }).toEqual({ status: 409, code: 'CONFLICT' });
    expect(await scheduleOf(id)).toMatchObject({ attempts: 8, isDue: false });
  });

  test('asked for twice at once is done once', async () => {
    const id = await stored();
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', `/deliveries/${id}/redeliver`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
  });
});

describe('recovering', () => {
  test('makes due what failed since then, and nothing else', async () => {
    const old = await stored({ age: '2 hours' });
    const failed = [await stored({ age: '59 minutes' }), await stored()];
    const delivered = await stored({ status: 'delivered' });
    const pending = await stored({ status: 'pending', dueIn: 3600 });
    const since = new Date(Date.now() - 3_600_000).toISOString();
    let body: unknown;
    const wakes = await wakesDuring(async () => {
      body = (await call('POST', `/webhooks/${webhookId}/recover`, { since })).body;
    });
    expect(body).toEqual({ success: true, recovered: 2 });
    expect(wakes).toBe(1);
    for (const id of failed) {
      expect(await scheduleOf(id)).toEqual({ status: 'pending', attempts: 0, isDue: true, reason: null });
    }
    expect(await scheduleOf(old)).toMatchObject({ status: 'failed', attempts: 8 });
    expect(await scheduleOf(delivered)).toMatchObject({ status: 'delivered', attempts: 8 });
    expect(await scheduleOf(pending)).toMatchObject({ status: 'pending', attempts: 8, isDue: false });
  });

  test('includes the delivery that was created at the very moment', async () => {
    const id = await stored({ age: '1 hour' });
    const since = pickText((await call('GET', `/deliveries/${id}`)).body, 'createdAt');
    const answer = await call('POST', `/webhooks/${webhookId}/recover`, { since });
    expect(answer.body).toEqual({ success: true, recovered: 1 });
  });

  test.each([
    [{}, 'since is required'],
    [{ since: 'yesterday' }, 'since '],
    [{ since: 1_769_847_330 }, 'since must be a string'],
    [{ since: '2026-01-31' }, 'since '],
    [{ since: '2026-02-30T00:00:00Z' }, 'since '],
    [{ since: '2999-01-01T00:00:00Z' }, 'since must not be in the future'],
  ])('refuses %j', async (body, message) => {
    const answer = await call('POST', `/webhooks/${webhookId}/recover`, body);
    expect(answer.status).toBe(400);
    expect(pickText(answer.body, 'error', 'message')).toContain(message);
  });

  test('takes the first of all moments', async () => {
    await stored();
    const answer = await call('POST', `/webhooks/${webhookId}/recover`, { since: '0000-01-01T00:00:00Z' });
    expect(answer.body).toEqual({ success: true, recovered: 1 });
  });
});

describe('switching a subscription off and on', () => {
  test('gives up what is pending, refuses to send it again, and starts afresh', async () => {
    const pending = await stored({ status: 'pending', dueIn: 3600 });
    const delivered = await stored({ status: 'delivered' });
    await queryRows(app.databaseUrl, 'update webhook_subscriptions set fail_count = 7 where id = $1', [webhookId]);

    const off = await call('PATCH', `/webhooks/${webhookId}`, { enabled: false });
    expect(off.body).toMatchObject({ enabled: false, failCount: 7 });
    expect(await deliveries('?status=failed')).toMatchObject([
      { _id: pending, reason: 'The subscription was disabled.' },
    ]);
    expect(await ids('?status=delivered')).toEqual([delivered]);

    const since = '2026-01-01T00:00:00Z';
    expect((await call('POST', `/deliveries/${pending}/redeliver`)).status).toBe(409);
    expect((await call('POST', `/webhooks/${webhookId}/recover`, { since })).status).toBe(409);

    const on = await call('PATCH', `/webhooks/${webhookId}`, { enabled: true });
    expect(on.body).toMatchObject({ enabled: true, failCount: 0 });
    expect((await call('POST', `/webhooks/${webhookId}/recover`, { since })).body).toMatchObject({ recovered: 1 });
  });

  test('at the same moment as a recovery leaves nothing pending that is never sent', async () => {
    for (let round = 0; round < 10; round++) {
      await stored();
      await Promise.all([
        call('POST', `/webhooks/${webhookId}/recover`, { since: '2026-01-01T00:00:00Z' }),
        call('PATCH', `/webhooks/${webhookId}`, { enabled: false }),
      ]);
      expect(await ids('?status=pending')).toEqual([]);
      await call('PATCH', `/webhooks/${webhookId}`, { enabled: true });
    }
  });
});
