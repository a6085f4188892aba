import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';
import { startWebhookReceiver, type WebhookReceiver, type WebhookScript } from '../testing/webhook-receiver.ts';

let app: TestApp;
let developer: { id: string; key: string };
let receivers: WebhookReceiver[];

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
beforeEach(async () => {
  developer = await app.createDeveloper();
  receivers = [];
});
afterEach(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

function call(method: string, path: string, body?: unknown) {
  return app.call(method, path, { key: developer.key, body });
}

function sql(text: string, values: unknown[] = []) {
  return queryRows(app.databaseUrl, text, values);
}

async function receive(answer: WebhookScript = { status: 200 }): Promise<WebhookReceiver> {
  const started = await startWebhookReceiver({ answer });
  receivers.push(started);
  return started;
}

async function subscribe(url: string, more: object = {}): Promise<string> {
  const { status, body } = await call('POST', '/v1/events/webhooks', { event: 'graph.synced', url, ...more });
  expect(status).toBe(201);
  return pickText(body, '_id');
}

/** Publishes events as a module does: rows of the outbox, here one transaction. */
async function publish(...data: object[]): Promise<void> {
  await sql(
    `insert into outbox_events (developer_id, id, type, data)
     select $1, 'evt_' || gen_random_uuid(), 'graph.synced', value from jsonb_array_elements($2::jsonb)`,
    [developer.id, JSON.stringify(data)],
  );
}

async function subscription(id: string): Promise<unknown> {
  const { body } = await call('GET', '/v1/events/webhooks');
  const all = pick(body, 'webhooks');
  if (!Array.isArray(all)) throw new TypeError('webhooks is no list');
  return all.find((each) => pick(each, '_id') === id);
}

async function deliveries(id: string): Promise<Record<string, unknown>[]> {
  return sql('select * from webhook_deliveries where subscription_id = $1 order by created_at, id', [id]);
}

/** Brings the next attempt of every pending delivery forward. */
async function hurry(id: string): Promise<void> {
  await sql(`update webhook_deliveries set due_at = now() where subscription_id = $1 and status = 'pending'`, [id]);
  await sql(`select pg_notify('webhook_deliveries', '')`);
}

/** The values of n that arrived, in order. */
function numbers({ received }: WebhookReceiver): number[] {
  return received.map(({ body }) => Number(pick(JSON.parse(body.toString()), 'data', 'n'))).toSorted((a, b) => a - b);
}

const NUMBERS = Array.from({ length: 5 }, (_, n) => ({ n }));

async function alerts(): Promise<unknown[]> {
  const rows = await sql(`select data from outbox_events where developer_id = $1 and type = 'alert.triggered'`, [
    developer.id,
  ]);
  return rows.map(({ data }) => data);
}

test('an event reaches each subscription that wants it, with the same id and the same bytes', async () => {
  const [all, some, none] = [await receive(), await receive(), await receive()];
  await subscribe(all.url);
  await subscribe(some.url, { filter: { n: [1, 3] } });
  await subscribe(none.url, { event: 'workflow.completed' });
  await publish(...NUMBERS);
  await expect.poll(() => numbers(all)).toEqual([0, 1, 2, 3, 4]);
  await expect.poll(() => numbers(some)).toEqual([1, 3]);
  expect(none.received).toEqual([]);
  for (const { headers, body } of some.received) {
    const twin = all.received.find((each) => each.headers['webhook-id'] === headers['webhook-id']);
    expect(twin?.body.equals(body)).toBe(true);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-webhook-event': 'graph.synced' });
    expect(JSON.parse(body.toString())).toMatchObject({
      event: 'graph.synced',
      timestamp: headers['x-webhook-timestamp'],
    });
  }
});

test("another developer's subscription hears nothing", async () => {
  const mine = await receive();
  const foreign = await receive();
  await subscribe(mine.url);
  const other = await app.createDeveloper();
  const body = { event: 'graph.synced', url: foreign.url };
  await app.call('POST', '/v1/events/webhooks', { key: other.key, body });
  await publish({ n: 1 });
  await expect.poll(() => numbers(mine)).toEqual([1]);
  expect(foreign.received).toEqual([]);
});

test('a failed attempt is repeated with the same id and body until one succeeds', async () => {
  const flaky = await receive((_request, index) => ({ status: index < 2 ? 503 : 204, body: index < 2 ? 'busy' : '' }));
  const id = await subscribe(flaky.url);
  await publish({ n: 1 });
  for (const attempts of [1, 2]) {
    await expect.poll(async () => pick(await deliveries(id), 0, 'attempt_count')).toBe(attempts);
    expect(await subscription(id)).toMatchObject({ failCount: attempts, enabled: true });
    await hurry(id);
  }
  await expect.poll(async () => pick(await deliveries(id), 0, 'status')).toBe('delivered');
  expect(await deliveries(id)).toMatchObject([
    {
      attempt_count: 3,
      attempts: [
        { status: 503, answer: 'busy', error: 'HTTP 503.' },
        { status: 503, answer: 'busy', error: 'HTTP 503.' },
        { status: 204, answer: '', error: null },
      ],
    },
  ]);
  expect(new Set(flaky.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(flaky.received.map(({ body }) => body.toString())).size).toBe(1);
  expect(await subscription(id)).toMatchObject({ failCount: 0 });
});

test('retries follow the schedule, and the eighth failure is the last', async () => {
  const broken = await receive({ status: 500 });
  const id = await subscribe(broken.url);
  await publish({ n: 1 });
  const delays: number[] = [];
  for (let attempts = 1; attempts <= 8; attempts++) {
    await expect.poll(async () => pick(await deliveries(id), 0, 'attempt_count')).toBe(attempts);
    const [row] = await sql(
      'select extract(epoch from due_at - updated_at)::float8 as delay from webhook_deliveries where subscription_id = $1',
      [id],
    );
    delays.push(Number(row?.['delay']));
    if (attempts < 8) await hurry(id);
  }
  const expected = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];
  expect(delays.slice(0, 7).every((delay, i) => Math.abs(delay / (expected[i] ?? 0) - 1) <= 0.2)).toBe(true);
  expect(await deliveries(id)).toMatchObject([{ status: 'failed', reason: 'Every attempt failed.' }]);
});

test('a redirect is a failure, and is not followed', async () => {
  const target = await receive();
  const moved = await receive({ redirectTo: target.url });
  const id = await subscribe(moved.url);
  await publish({ n: 1 });
  await expect.poll(async () => pick(await subscription(id), 'failCount')).toBe(1);
  expect(pick(await deliveries(id), 0, 'attempts')).toMatchObject([{ status: 302 }]);
  expect(target.received).toEqual([]);
});

test('410 disables at once, gives up what waits and raises one alert', async () => {
  const gone = await receive({ status: 410 });
  const id = await subscribe(gone.url);
  await publish({ n: 1 });
  await expect.poll(async () => pick(await subscription(id), 'enabled')).toBe(false);
  expect(await deliveries(id)).toMatchObject([{ status: 'failed' }]);
  await publish({ n: 2 });
  await expect.poll(alerts).toMatchObject([{ alertType: 'subscription_disabled', source: id, severity: 'error' }]);
  expect(numbers(gone)).toEqual([1]);
});

test('twenty failures in a row disable; enabling again and recovering delivers what was missed, once each', async () => {
  const broken = await receive({ status: 500 });
  const id = await subscribe(broken.url);
  await publish(...Array.from({ length: 30 }, (_, n) => ({ n })));
  await expect.poll(async () => pick(await subscription(id), 'enabled'), { timeout: 10_000 }).toBe(false);
  await expect.poll(alerts).toHaveLength(1);
  await expect
    .poll(async () => (await deliveries(id)).every(({ status }) => status === 'failed'), { timeout: 10_000 })
    .toBe(true);
  const failCount = Number(pick(await subscription(id), 'failCount'));
  expect(failCount).toBeGreaterThanOrEqual(20);
  broken.answer = { status: 200 };
  const before = broken.received.length;
  await call('PATCH', `/v1/events/webhooks/${id}`, { enabled: true });
  const since = new Date(Date.now() - 60_000).toISOString();
  const { body } = await call('POST', `/v1/events/webhooks/${id}/recover`, { since });
  expect(body).toEqual({ success: true, recovered: 30 });
  await expect.poll(() => broken.received.length - before, { timeout: 10_000 }).toBe(30);
  expect(new Set(broken.received.slice(before).map(({ headers }) => headers['webhook-id'])).size).toBe(30);
  await expect.poll(async () => pick(await subscription(id), 'failCount')).toBe(0);
  expect(await alerts()).toHaveLength(1);
});

test('failures now and then do not disable', async () => {
  const sporadic = await receive((_request, index) => ({ status: index % 10 === 0 ? 200 : 500 }));
  const id = await subscribe(sporadic.url);
  for (let n = 0; n < 40; n++) {
    await publish({ n });
    await expect.poll(() => sporadic.received.length).toBe(n + 1);
  }
  await expect.poll(async () => pick(await deliveries(id), 39, 'attempt_count')).toBe(1);
  expect(await subscription(id)).toMatchObject({ enabled: true, failCount: 9 });
  expect(await alerts()).toEqual([]);
});

test.each([
  ['hangs', 'hang' as const],
  ['is not there', undefined],
  ['answers without end', 'drip' as const],
  ['answers with a flood', { hugeBytes: 50_000_000 }],
  ['is slow', { status: 200, afterMs: 3000 }],
])('a receiver that %s delays nobody else', async (_name, answer) => {
  const [bad, good] = [await receive(answer), await receive()];
  await subscribe(bad.url);
  await subscribe(good.url);
  if (answer === undefined) await bad.stop();
  if (answer === undefined) receivers.splice(receivers.indexOf(bad), 1);
  await publish(...Array.from({ length: 100 }, (_, n) => ({ n })));
  await expect.poll(() => good.received.length, { timeout: 2500 }).toBe(100);
});

test('an acknowledgement with a body without end, or of any size, is an acknowledgement', async () => {
  const flood = await receive({ hugeBytes: 5_000_000 });
  const id = await subscribe(flood.url);
  await publish({ n: 1 });
  await expect.poll(async () => pick(await deliveries(id), 0, 'status')).toBe('delivered');
  expect(pickText(await deliveries(id), 0, 'attempts', 0, 'answer')).toHaveLength(1024);
});

test('a receiver that hangs is given up after ten seconds', { timeout: 20_000 }, async () => {
  const hanging = await receive('hang');
  const id = await subscribe(hanging.url);
  await publish({ n: 1 });
  await expect.poll(async () => pick(await deliveries(id), 0, 'attempts'), { timeout: 15_000 }).toHaveLength(1);
  expect(pick(await deliveries(id), 0, 'attempts')).toMatchObject([
    { status: null, answer: null, error: 'There was no complete answer within 10000 ms.' },
  ]);
});

test('a developer whose many receivers hang holds up nobody else, even at the same place', async () => {
  const receiver = await receive(({ path }) => (path === '/hangs' ? 'hang' : { status: 200 }));
  const subscriptions = Array.from({ length: 40 }, () => subscribe(`${receiver.url}/hangs`));
  await Promise.all(subscriptions);
  // 40 receivers with 8 at once would be more than one developer may have under way.
  await publish(...Array.from({ length: 8 }, (_, n) => ({ n })));
  await expect.poll(() => receiver.received.length).toBe(250);
  developer = await app.createDeveloper();
  await subscribe(`${receiver.url}/well`);
  await publish({ n: 1 });
  await expect.poll(() => receiver.received.at(-1)?.path).toBe('/well');
  expect(receiver.received).toHaveLength(251);
});

test('a subscription that is deleted while events come leaves no delivery behind', async () => {
  const receiver = await receive();
  const id = await subscribe(receiver.url);
  const published = Array.from({ length: 40 }, (_, n) => publish({ n }, { n }, { n }));
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  expect((await call('DELETE', `/v1/events/webhooks/${id}`)).status).toBe(200);
  await Promise.all(published);
  const waiting = 'select from outbox_events where dispatched_at is null and developer_id = $1';
  await expect.poll(() => sql(waiting, [developer.id])).toEqual([]);
  expect(await deliveries(id)).toEqual([]);
});

test('what a stop interrupts is delivered after the next start', async () => {
  const slow = await receive('hang');
  const id = await subscribe(slow.url);
  const other = await startTestApp({ DATABASE_URL: app.databaseUrl });
  await publish(...NUMBERS);
  await expect.poll(() => slow.received.length).toBeGreaterThanOrEqual(5);
  await other.stop();
  slow.answer = { status: 200 };
  await hurry(id);
  await expect
    .poll(async () => (await deliveries(id)).every(({ status }) => status === 'delivered'), { timeout: 15_000 })
    .toBe(true);
  expect(pick(await subscription(id), 'enabled')).toBe(true);
});

test('texts arrive as they were, in any language', async () => {
  const reader = await receive();
  await subscribe(reader.url);
  const text = `订单 4711 已发货 — ünïcödé \u{1F680} "\\u0000" ${randomUUID()}`;
  await publish({ n: 1, text });
  await expect.poll(() => reader.received.length).toBe(1);
  expect(pick(JSON.parse(reader.received[0]?.body.toString() ?? ''), 'data', 'text')).toBe(text);
});
