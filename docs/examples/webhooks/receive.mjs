// Receives webhooks. Node 20 or newer, nothing to install:
//   WEBHOOK_SECRET=... PORT=8000 node receive.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET: secret = '', PORT: port = '8000' } = process.env;
if (!secret) throw new Error('WEBHOOK_SECRET is not set');
const TOLERANCE_SECONDS = 300;
const MAX_BYTES = 4 * 1024 * 1024;

function isEqual(given, expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** X-Webhook-Signature: of the body alone, keyed with the secret as it is written. */
function isBodySigned(headers, body) {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const given = [headers['x-webhook-signature'], headers['x-webhook-signature-previous']];
  return given.some((signature) => isEqual(signature ?? '', expected));
}

/** Standard Webhooks: of the id and the time too, so that nobody can send an old message again. */
function isMessageSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS)) return false;
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')}`;
  return signatures.split(' ').some((signature) => isEqual(signature, expected));
}

// In your program: a unique column, written in one transaction with what the message changes.
const taken = new Set();

/** Takes a message once, however often it is sent. Only write it down here: the sender waits. */
function take(id, message) {
  if (taken.has(id)) return;
  taken.add(id);
  console.log(`${id} ${message.event}`);
}

async function receive(request) {
  const parts = [];
  let length = 0;
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    length += part.length;
    if (length > MAX_BYTES) return 413;
    parts.push(part);
  }
  // The bytes as they came: JSON that was parsed and written again has another signature.
  const body = Buffer.concat(parts);
  if (!isBodySigned(request.headers, body) || !isMessageSigned(request.headers, body)) return 401;
  take(request.headers['webhook-id'], JSON.parse(body.toString()));
  return 204;
}

const server = createServer(async (request, response) => {
  // What throws is answered 500, and sent again later.
  const status = await receive(request).catch(() => 500);
  response.writeHead(status).end();
});
server.listen(Number(port), '127.0.0.1', () => {
  console.log(`receiving at http://127.0.0.1:${server.address().port}`);
});
