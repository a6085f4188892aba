import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startWebhookReceiver();
});
afterEach(() => receiver.stop());

function post(body: Uint8Array<ArrayBuffer> | string, path = '/'): Promise<Response> {
  return fetch(receiver.url + path, { method: 'POST', body, redirect: 'manual' });
}

test('it keeps path, headers and the bytes as they came', async () => {
  const bytes = Uint8Array.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);
  const answer = await fetch(`${receiver.url}/a?b=1`, { method: 'POST', body: bytes, headers: { 'X-Mark': 'é' } });
  expect(answer.status).toBe(200);
  expect(receiver.received).toMatchObject([{ method: 'POST', path: '/a?b=1', headers: { 'x-mark': 'é' } }]);
  expect(receiver.received[0]?.body.equals(bytes)).toBe(true);
});

test('its answer may change while it runs, and from request to request', async () => {
  receiver.answer = { status: 503, body: 'later' };
  expect((await post('1')).status).toBe(503);
  receiver.answer = ({ path }, index) => (path === '/moved' ? { redirectTo: '/' } : { status: 200 + index });
  expect((await post('2')).status).toBe(201);
  expect((await post('3', '/moved')).headers.get('location')).toBe('/');
  expect(receiver.received.map(({ body }) => body.toString())).toEqual(['1', '2', '3']);
});

test('a huge body has the bytes that it promised', async () => {
  receiver.answer = { hugeBytes: 1_000_001 };
  expect((await (await post('')).arrayBuffer()).byteLength).toBe(1_000_001);
});

test('a dripping answer begins and does not end', async () => {
  receiver.answer = 'drip';
  const reader = (await post('')).body?.getReader();
  expect((await reader?.read())?.value).toEqual(Uint8Array.from([0x2e]));
  await reader?.cancel();
});

test('one that hangs has the request, and lets go when it is stopped', async () => {
  receiver.answer = 'hang';
  const answer = post('x').then(
    () => 'answered',
    () => 'cut',
  );
  await expect.poll(() => receiver.received.length).toBe(1);
  await receiver.stop();
  expect(await answer).toBe('cut');
  receiver = await startWebhookReceiver();
});
