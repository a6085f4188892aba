import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Message } from './delivery.ts';

const STANDARD_PREFIX = 'whsec_';

/** What signs, ready made: a key that is made of bytes for each signature takes five times as long as the signature. */
export interface SigningKeys {
  /** Of the secret as it was given. */
  whole: KeyObject;
  /** Secrets in the form of Standard Webhooks name their bytes; any other secret is its own bytes. */
  standard: KeyObject;
}

export function signingKeysOf(secret: string): SigningKeys {
  const whole = createSecretKey(secret, 'utf8');
  if (!secret.startsWith(STANDARD_PREFIX)) return { whole, standard: whole };
  return { whole, standard: createSecretKey(secret.slice(STANDARD_PREFIX.length), 'base64') };
}

/** `sha256=` and the lowercase hex HMAC-SHA256 of the body. */
function bodySignature({ whole }: SigningKeys, body: string): string {
  return `sha256=${createHmac('sha256', whole).update(body).digest('hex')}`;
}

/** `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks, specification 1.0). */
function standardSignature({ standard }: SigningKeys, signed: string): string {
  return `v1,${createHmac('sha256', standard).update(signed).digest('base64')}`;
}

/**
 * The headers that prove who sent a message: `keys` are those of the present secret and, while it is being rotated, of
 * the one before. Empty without a secret.
 */
export function signatureHeaders(
  { id, body }: Message,
  unixSeconds: number,
  keys: readonly SigningKeys[],
): Record<string, string> {
  const [present, previous] = keys;
  if (present === undefined) return {};
  const signed = `${id}.${unixSeconds}.${body}`;
  return {
    'x-webhook-signature': bodySignature(present, body),
    ...(previous !== undefined && { 'x-webhook-signature-previous': bodySignature(previous, body) }),
    'webhook-signature': keys.map((key) => standardSignature(key, signed)).join(' '),
  };
}
