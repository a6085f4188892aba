import { AppError } from '../../../platform/errors/index.ts';
import { OutboundError, type Outbound } from '../../../platform/net/index.ts';

/** How a secret in the form of Standard Webhooks begins; base64 of the key follows. */
const STANDARD_PREFIX = 'whsec_';
const MIN_KEY_BYTES = 16;
const MAX_FILTER_BYTES = 16 * 1024;

function refuse(sentence: string): never {
  throw new AppError('INVALID_REQUEST', sentence);
}

function demandUsableUrl(url: string, outbound: Outbound): void {
  try {
    outbound.check(url);
  } catch (error) {
    if (error instanceof OutboundError) refuse(`url: ${error.message}`);
    throw error;
  }
  if (url.includes('#')) refuse('url must not have a fragment (#): it would not be sent.');
}

function demandUsableSecret(secret: string): void {
  if (!secret.startsWith(STANDARD_PREFIX)) return;
  const text = secret.slice(STANDARD_PREFIX.length);
  const key = Buffer.from(text, 'base64');
  // The decoder skips what is not base64: only what comes out again as it went in was.
  if (key.toString('base64') !== text) refuse(`secret must be base64 after "${STANDARD_PREFIX}".`);
  if (key.length < MIN_KEY_BYTES) {
    refuse(`secret must be base64 of at least ${MIN_KEY_BYTES} bytes after "${STANDARD_PREFIX}".`);
  }
}

function demandUsableFilter(filter: Record<string, unknown>): void {
  if (Buffer.byteLength(JSON.stringify(filter)) > MAX_FILTER_BYTES) {
    refuse(`filter is larger than ${MAX_FILTER_BYTES / 1024} kB.`);
  }
}

/** Checks the parts of a subscription that are given, without calling anybody. */
export function demandUsableSubscription(
  outbound: Outbound,
  parts: {
    url?: string | undefined;
    secret?: string | null | undefined;
    filter?: Record<string, unknown> | null | undefined;
  },
): void {
  const { url, secret, filter } = parts;
  if (url !== undefined) demandUsableUrl(url, outbound);
  if (typeof secret === 'string') demandUsableSecret(secret);
  if (filter) demandUsableFilter(filter);
}
