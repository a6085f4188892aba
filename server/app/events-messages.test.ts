import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EVENTS } from '../../contract/events/index.ts';
import { queryRows } from '../testing/query-rows.ts';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';
import { startWebhookReceiver, type ReceivedWebhook, type WebhookReceiver } from '../testing/webhook-receiver.ts';

const EVENT_TYPES = EVENTS.map(({ type }) => type);
/** 16 bytes in base64. */
const STANDARD_SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZg==';

let app: TestApp;
let receiver: WebhookReceiver;
let developer: { id: string; key: string };

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
beforeEach(async () => {
  receiver = await startWebhookReceiver({ answer: { status: 200, body: 'taken' } });
  developer = await app.createDeveloper();
});
afterEach(() => receiver.stop());

function call(method: string, path: string, body?: unknown) {
  return app.call(method, `/v1/events${path}`, { key: developer.key, body });
}

async function subscribed(more: object = {}): Promise<string> {
  const body = { event: 'tool.executed', url: `${receiver.url}/hook`, ...more };
  return pickText((await call('POST', '/webhooks', body)).body, '_id');
}

async function listed(): Promise<unknown> {
  return pick((await call('GET', '/webhooks')).body, 'webhooks');
}

function sentMessages(): ReceivedWebhook[] {
  return receiver.received.filter(({ path }) => path === '/hook');
}

/** The columns of secrets of one subscription. */
async function secretsOf(id: string) {
  const [row] = await queryRows(
    app.databaseUrl,
    `select secret, previous_secret as previous, previous_secret_until > now() + interval '23 hours'
      and previous_secret_until < now() + interval '25 hours' as "forADay" from webhook_subscriptions where id = $1`,
    [id],
  );
  return row ?? {};
}

describe('the secret', () => {
  test('is stored sealed, each one apart', async () => {
    const [one, two] = [await subscribed({ secret: 'the same' }), await subscribed({ secret: 'the same' })];
    const stored = [(await secretsOf(one))['secret'], (await secretsOf(two))['secret']];
    expect(new Set(stored).size).toBe(2);
    expect(JSON.stringify(stored)).not.toContain('the same');
  });

  test('that is replaced signs beside the new one for a day', async () => {
    const id = await subscribed({ secret: 'first' });
    const { secret: first } = await secretsOf(id);
    await call('PATCH', `/webhooks/${id}`, { secret: 'second' });
    expect(await secretsOf(id)).toMatchObject({ previous: first, forADay: true });
    await call('POST', `/webhooks/${id}/test`);
    const [message] = sentMessages();
    const signed = (secret: string) =>
      `sha256=${createHmac('sha256', secret)
        .update(message?.body ?? '')
        .digest('hex')}`;
    expect(message?.headers).toMatchObject({
      'x-webhook-signature': signed('second'),
      'x-webhook-signature-previous': signed('first'),
    });
  });

  test('given once more changes nothing, and taken away is gone at once with the one before', async () => {
    const id = await subscribed({ secret: 'first' });
    await call('PATCH', `/webhooks/${id}`, { secret: 'second' });
    const before = await secretsOf(id);
    await call('PATCH', `/webhooks/${id}`, { secret: 'second' });
    await call('PATCH', `/webhooks/${id}`, { enabled: true });
    expect(await secretsOf(id)).toEqual(before);
    expect((await call('PATCH', `/webhooks/${id}`, { secret: null })).body).toMatchObject({ hasSecret: false });
    expect(await secretsOf(id)).toEqual({ secret: null, previous: null, forADay: null });
    expect((await call('PATCH', `/webhooks/${id}`, { secret: 'third' })).body).toMatchObject({ hasSecret: true });
    expect(await secretsOf(id)).toMatchObject({ secret: expect.any(String), previous: null, forADay: null });
  });
});

describe('a delivery', () => {
  test('reaches the receiver, is in the log, and comes a second time when it is asked for', async () => {
    const id = await subscribed();
    const execution = { type: 'http', method: 'GET', url: `${receiver.url}/tool` };
    await app.call('POST', '/v1/tools', {
      key: developer.key,
      body: { name: 'get_order', description: 'A tool.', execution },
    });
    await app.call('POST', '/v1/tools/get_order/test', { key: developer.key, body: {} });
    await expect.poll(() => sentMessages().length).toBe(1);
    const log = async () => (await call('GET', `/webhooks/${id}/deliveries?status=delivered`)).body;
    await expect.poll(log).toMatchObject({
      deliveries: [
        { webhookId: id, eventId: sentMessages()[0]?.headers['webhook-id'], attempts: [{ status: 200, error: null }] },
      ],
    });
    expect(await listed()).toMatchObject([{ lastTriggered: expect.any(String), failCount: 0 }]);

    const deliveryId = pickText(await log(), 'deliveries', 0, '_id');
    expect((await call('POST', `/deliveries/${deliveryId}/redeliver`)).status).toBe(200);
    await expect.poll(log).toMatchObject({ deliveries: [{ _id: deliveryId, attempts: [{}, { status: 200 }] }] });
    const [first, second] = sentMessages();
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    const { body } = await call('GET', `/deliveries/${deliveryId}`);
    expect(pick(body, 'body')).toEqual(JSON.parse(String(first?.body)));
  });
});

describe('a test message', () => {
  test.each(EVENT_TYPES)('of %s is what the contract says', async (event) => {
    const id = await subscribed({ event, secret: STANDARD_SECRET });
    const { body } = await call('POST', `/webhooks/${id}/test`);
    expect(body).toEqual({
      success: true,
      attempt: { at: expect.any(String), status: 200, durationMs: expect.any(Number), answer: 'taken', error: null },
    });
    expect(receiver.received).toHaveLength(1);
    const message: unknown = JSON.parse(String(receiver.received[0]?.body));
    expect(message).toEqual({
      event,
      timestamp: receiver.received[0]?.headers['x-webhook-timestamp'],
      data: expect.any(Object),
    });
    const data = EVENTS.find(({ type }) => type === event)?.data;
    expect(Object.keys(Object(pick(message, 'data')))).toEqual(data?.required);
  });

  test('that fails is told, but neither recorded nor counted; a disabled subscription is tried too', async () => {
    receiver.answer = { status: 503 };
    const id = await subscribed();
    await call('PATCH', `/webhooks/${id}`, { enabled: false });
    const before = await listed();
    expect((await call('POST', `/webhooks/${id}/test`)).body).toMatchObject({
      success: false,
      attempt: { status: 503, error: expect.stringContaining('503') },
    });
    expect(receiver.received).toHaveLength(1);
    expect(await listed()).toEqual(before);
    expect((await call('GET', `/webhooks/${id}/deliveries`)).body).toEqual({ deliveries: [] });
  });
});
