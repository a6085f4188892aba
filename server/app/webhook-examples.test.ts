import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signatureHeaders, signingKeysOf } from '../modules/events/deliveries/signatures.ts';
import { pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';
import { testDataFile } from '../testing/test-data.ts';
import {
  EXAMPLES,
  findReceivers,
  hasOpenssl,
  isVerifiedByScript,
  replay,
  runScript,
  startExample,
  type RunningExample,
  type SignedMessage,
} from '../testing/webhook-examples.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts';

const PLAIN = 'a secret of one’s own, $HOME "quoted"';
const STANDARD = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SECRETS = [PLAIN, STANDARD];

/** The secrets to try the scripts with; none where they cannot run. */
const SCRIPTED = hasOpenssl() ? SECRETS : [];

let app: TestApp;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [app, receiver] = await Promise.all([startTestApp(), startWebhookReceiver()]);
});
afterAll(() => Promise.all([app.stop(), receiver.stop()]));

/** What the service sends to a subscription whose secret was each of these in turn, the present one last. */
async function sentWith(...secrets: string[]): Promise<SignedMessage> {
  const [first, ...later] = secrets;
  const body = { event: 'ai.conversation', url: receiver.url, secret: first };
  const id = pickText((await app.call('POST', '/v1/events/webhooks', { body })).body, '_id');
  for (const secret of later) await app.call('PATCH', `/v1/events/webhooks/${id}`, { body: { secret } });
  const before = receiver.received.length;
  await app.call('POST', `/v1/events/webhooks/${id}/test`);
  const request = receiver.received[before];
  if (!request) throw new Error('nothing was sent');
  const names = Object.keys(request.headers).filter((name) => /webhook|content-type/.test(name));
  return {
    headers: Object.fromEntries(names.map((name) => [name, String(request.headers[name])])),
    body: request.body,
  };
}

/** The same message with the right signature of another moment. */
function sentAt(message: SignedMessage, unixSeconds: number): SignedMessage {
  const signature = new Webhook(STANDARD).sign(
    message.headers['webhook-id'] ?? '',
    new Date(unixSeconds * 1000),
    message.body.toString(),
  );
  const headers = { 'webhook-timestamp': String(unixSeconds), 'webhook-signature': signature };
  return { ...message, headers: { ...message.headers, ...headers } };
}

function changed(message: SignedMessage, headers: Record<string, string>): SignedMessage {
  return { ...message, headers: { ...message.headers, ...headers } };
}

/** Messages that are not what the owner of STANDARD sent just now. */
function forgeries(message: SignedMessage): Record<string, SignedMessage> {
  const flipped = Buffer.from(message.body);
  flipped[flipped.length - 3] = (flipped[flipped.length - 3] ?? 0) ^ 1;
  const now = Math.floor(Date.now() / 1000);
  const { 'x-webhook-signature': ofBody = '', 'webhook-signature': ofMessage = '' } = message.headers;
  return {
    'a flipped byte': { ...message, body: flipped },
    'an old message': sentAt(message, now - 400),
    'a message of the future': sentAt(message, now + 400),
    'another id': changed(message, { 'webhook-id': 'evt_other' }),
    'another time': changed(message, { 'webhook-timestamp': String(now - 10) }),
    'no signature of the body': changed(message, { 'x-webhook-signature': '' }),
    'a shorter signature of the body': changed(message, { 'x-webhook-signature': ofBody.slice(0, -2) }),
    'no signature of the message': changed(message, { 'webhook-signature': '' }),
    'a shorter signature of the message': changed(message, { 'webhook-signature': ofMessage.slice(0, -4) }),
  };
}

describe.for(findReceivers())('$file', (language) => {
  let examples: Map<string, RunningExample>;
  beforeAll(async () => {
    const started = await Promise.all(SECRETS.map((secret) => startExample(language, secret)));
    examples = new Map(started.map((example, index) => [SECRETS[index] ?? '', example]));
  });
  afterAll(() => Promise.all([...examples.values()].map((example) => example.stop())));

  const give = (secret: string, message: SignedMessage): Promise<number> =>
    replay(examples.get(secret)?.url ?? '', message);

  test.for(SECRETS)('takes what the service sends, signed with %s', async (secret) => {
    expect(await give(secret, await sentWith(secret))).toBe(204);
  });

  test.for(SECRETS)(
    'takes what is sent while a secret is rotated, with the old and the new one: %s',
    async (secret) => {
      expect(await give(secret, await sentWith('another one', secret))).toBe(204);
      expect(await give(secret, await sentWith(secret, 'another one'))).toBe(204);
      expect(await give(secret, await sentWith('another one', 'a third one'))).toBe(401);
    },
  );

  test('refuses what was not sent so, or not now', async () => {
    const message = await sentWith(STANDARD);
    for (const [name, forged] of Object.entries(forgeries(message))) {
      expect([name, await give(STANDARD, forged)]).toEqual([name, 401]);
    }
    expect(await give(STANDARD, await sentWith(PLAIN))).toBe(401);
    expect(await give(STANDARD, sentAt(message, Math.floor(Date.now() / 1000) - 200))).toBe(204);
  });

  test('takes a message that comes twice once', async () => {
    const message = await sentWith(PLAIN);
    expect([await give(PLAIN, message), await give(PLAIN, message)]).toEqual([204, 204]);
    const line = `${message.headers['webhook-id']} ai.conversation\n`;
    const output = (): string => examples.get(PLAIN)?.output() ?? '';
    await expect.poll(output).toContain(line);
    expect(output().split(line)).toHaveLength(2);
  });

  test.for(SCRIPTED)('takes what send.sh sends, signed with %s', async (secret) => {
    expect(await runScript(['send.sh', examples.get(secret)?.url ?? ''], secret)).toEqual({ code: 0, output: '204\n' });
    const refused = await runScript(['send.sh', examples.get(secret)?.url ?? ''], 'another one');
    expect(refused.output).toBe('401\n');
  });
});

describe.for(SCRIPTED)('verify.sh with %s', (secret) => {
  test('finds right what the service sends, while the secret is rotated too', async () => {
    expect(await isVerifiedByScript(await sentWith(secret), secret)).toBe(true);
    expect(await isVerifiedByScript(await sentWith(secret, 'another one'), secret)).toBe(true);
    expect(await isVerifiedByScript(await sentWith('another one'), secret)).toBe(false);
  });
});

test.for(SCRIPTED.slice(-1))('verify.sh refuses what was not sent so, or not now', async (secret) => {
  for (const [name, forged] of Object.entries(forgeries(await sentWith(secret)))) {
    expect([name, await isVerifiedByScript(forged, secret)]).toEqual([name, false]);
  }
});

function isVerified({ headers, body }: SignedMessage, webhook: Webhook): boolean {
  try {
    webhook.verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

describe('the library of Standard Webhooks', () => {
  test('verifies what the service sends', async () => {
    const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
    const message = await sentWith(STANDARD);
    expect(isVerified(message, new Webhook(STANDARD))).toBe(true);
    expect(isVerified(message, new Webhook(other))).toBe(false);
    const rotated = await sentWith(STANDARD, other);
    expect([STANDARD, other].map((secret) => isVerified(rotated, new Webhook(secret)))).toEqual([true, true]);
    const plain = new Webhook(Buffer.from(PLAIN), { format: 'raw' });
    expect(isVerified(await sentWith(PLAIN), plain)).toBe(true);
  });

  test('refuses a flipped byte, another id and another time', async () => {
    const webhook = new Webhook(STANDARD);
    const forged = Object.entries(forgeries(await sentWith(STANDARD))).filter(
      ([name]) => !name.includes('of the body'),
    );
    expect(forged.filter(([, message]) => isVerified(message, webhook))).toEqual([]);
  });
});

interface Vector {
  name: string;
  secret: string;
  body: string;
  signature: string;
  id?: string;
  timestamp?: string;
}

/** Those of the test cases whose key and message are text. */
function rfcVectors(text: string): Vector[] {
  const cases = text.matchAll(/Key = (?<key>\w+)\n(?:# .*\n)?Msg = (?<message>\w+)\nMD = (?<digest>\w+)/g);
  return [...cases]
    .map(({ groups = {} }) => ({
      key: Buffer.from(groups['key'] ?? '', 'hex'),
      message: Buffer.from(groups['message'] ?? '', 'hex'),
      digest: groups['digest'] ?? '',
    }))
    .filter(({ key, message }) => [key, message].every((bytes) => Buffer.from(bytes.toString()).equals(bytes)))
    .map(({ key, message, digest }, index) => ({
      name: `RFC 4231, ${index + 1}`,
      secret: key.toString(),
      body: message.toString(),
      signature: `sha256=${digest}`,
    }));
}

const known = testDataFile('hmac/known-vectors.json');
const rfc = testDataFile('hmac/rfc-4231-sha256.txt');
const vectors: Vector[] = [
  ...(known === undefined ? [] : JSON.parse(readFileSync(known, 'utf8'))),
  ...(rfc === undefined ? [] : rfcVectors(readFileSync(rfc, 'utf8'))),
];

test.for(vectors)('the signature is that of $name', ({ secret, body, signature, id = '', timestamp = '0' }) => {
  const message = { id, event: 'tool.executed', body, createdAt: new Date(0) } as const;
  const headers = signatureHeaders(message, Number(timestamp), [signingKeysOf(secret)]);
  expect(headers[signature.startsWith('v1,') ? 'webhook-signature' : 'x-webhook-signature']).toBe(signature);
});

test('the page shows the examples as they are', () => {
  const page = readFileSync(join(EXAMPLES, '../../events.md'), 'utf8');
  const shown = page.matchAll(/\[(?<file>[\w.]+)\]\(examples\/webhooks\/\k<file>\):\n\n```\w+\n(?<text>.*?)```\n/gs);
  const texts = Object.fromEntries([...shown].map(({ groups = {} }) => [groups['file'], groups['text']]));
  const files = ['receive.mjs', 'receive.py', 'receive.go', 'verify.sh', 'send.sh'];
  expect(texts).toEqual(Object.fromEntries(files.map((file) => [file, readFileSync(join(EXAMPLES, file), 'utf8')])));
});
