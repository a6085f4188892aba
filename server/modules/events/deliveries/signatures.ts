import { createHmac } from 'node:crypto';
import type { Message } from './delivery.ts';

const STANDARD_PREFIX = 'whsec_';

/** Secrets in the form of Standard Webhooks name their bytes; any other secret is its own bytes. */
function standardKey(secret: string): Buffer {
  return secret.startsWith(STANDARD_PREFIX)
    ? Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

/** `sha256=` and the lowercase hex HMAC-SHA256 of the body, keyed with the secret as it was given. */
function bodySignature(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks, specification 1.0). */
function standardSignature(secret: string, signed: string): string {
  return `v1,${createHmac('sha256', standardKey(secret)).update(signed).digest('base64')}`;
}

/**
 * The headers that prove who sent a message: `secrets` holds the present secret and, while it is being rotated, the one
 * before. Empty without a secret.
 */
export function signatureHeaders(
  { id, body }: Message,
  unixSeconds: number,
  secrets: readonly string[],
): Record<string, string> {
  const [present, previous] = secrets;
  if (present === undefined) return {};
  const signed = `${id}.${unixSeconds}.${body}`;
  return {
    'x-webhook-signature': bodySignature(present, body),
    ...(previous !== undefined && { 'x-webhook-signature-previous': bodySignature(previous, body) }),
    'webhook-signature': secrets.map((secret) => standardSignature(secret, signed)).join(' '),
  };
}
