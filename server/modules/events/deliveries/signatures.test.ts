import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from './delivery.ts';
import { signatureHeaders, signingKeysOf } from './signatures.ts';

/** The headers of the message `evt_1`, at second 1700. */
function headersOf(body: string, secrets: readonly string[]): Record<string, string> {
  const message: Message = { id: 'evt_1', event: 'tool.executed', body, createdAt: new Date(0) };
  return signatureHeaders(message, 1700, secrets.map(signingKeysOf));
}

test('the signature of the body is that of RFC 4231, test case 2', () => {
  const headers = headersOf('what do ya want for nothing?', ['Jefe']);
  expect(headers['x-webhook-signature']).toBe(
    'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('without a secret nothing is signed', () => {
  expect(headersOf('{}', [])).toEqual({});
});

test('any secret signs any text as UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ unit: 'binary' }), (secret, body) => {
      const expected = createHmac('sha256', Buffer.from(secret)).update(Buffer.from(body)).digest('hex');
      expect(headersOf(body, [secret])['x-webhook-signature']).toBe(`sha256=${expected}`);
    }),
  );
});

test('a secret of Standard Webhooks is its decoded bytes there, and its text in the header of the contract', () => {
  const key = randomBytes(24);
  const secret = `whsec_${key.toString('base64')}`;
  const headers = headersOf('{}', [secret]);
  const standard = createHmac('sha256', key).update('evt_1.1700.{}').digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${standard}`);
  expect(headers['x-webhook-signature']).toBe(`sha256=${createHmac('sha256', secret).update('{}').digest('hex')}`);
});

test('while a secret is rotated both sign', () => {
  const headers = headersOf('{}', ['new', 'old']);
  const alone = (secret: string) => headersOf('{}', [secret]);
  expect(headers).toEqual({
    'x-webhook-signature': alone('new')['x-webhook-signature'],
    'x-webhook-signature-previous': alone('old')['x-webhook-signature'],
    'webhook-signature': `${alone('new')['webhook-signature']} ${alone('old')['webhook-signature']}`,
  });
});
