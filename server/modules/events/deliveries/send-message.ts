import { systemClock, type Clock } from '../../../platform/clock/index.ts';
import type { Vault } from '../../../platform/crypto/index.ts';
import { errorMessage } from '../../../platform/errors/index.ts';
import { OutboundError, type Outbound, type OutboundResponse } from '../../../platform/net/index.ts';
import type { Attempt, Destination, Message } from './delivery.ts';
import { signatureHeaders, signingKeysOf, type SigningKeys } from './signatures.ts';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024;
const MAX_OPEN_SECRETS = 10_000;
/** A stop or the end of the process keeps the attempt from counting. */
const GIVEN_UP = 'aborted';

/** Makes one attempt. Rejects with OutboundError `aborted` when the signal was; any other failure is an outcome. */
export type SendMessage = (destination: Destination, message: Message, signal?: AbortSignal) => Promise<Attempt>;

interface SenderParts {
  outbound: Outbound;
  vault: Vault;
  clock?: Clock;
}

/** Opens sealed secrets, each once: the sealed text of a secret never stands for another. */
function createKeyReader(vault: Vault) {
  const opened = new Map<string, SigningKeys>();
  return ({ developerId, subscriptionId }: Destination, sealed: string): SigningKeys => {
    const known = opened.get(sealed);
    if (known !== undefined) return known;
    const secret = vault.open({ purpose: 'webhook-secret', developerId, row: subscriptionId, field: 'secret' }, sealed);
    const keys = signingKeysOf(secret);
    if (opened.size >= MAX_OPEN_SECRETS) opened.clear();
    opened.set(sealed, keys);
    return keys;
  };
}

/** PostgreSQL's text holds no NUL. */
function answerText(body: Buffer): string {
  return body.subarray(0, MAX_ANSWER_BYTES).toString('utf8').replaceAll('\0', '\uFFFD');
}

function failureOf({ status }: OutboundResponse): string | null {
  if (status >= 200 && status <= 299) return null;
  if (status >= 300 && status <= 399) return `HTTP ${status}: redirects are not followed.`;
  return `HTTP ${status}.`;
}

/** Sends messages to subscriptions, signed over the exact bytes of the body. */
export function createSender({ outbound, vault, clock = systemClock }: SenderParts): SendMessage {
  const readKeys = createKeyReader(vault);

  const keysOf = (destination: Destination, nowMs: number): SigningKeys[] => {
    const { secret, previousSecret, previousSecretUntil } = destination;
    const isRotating = previousSecretUntil !== null && previousSecretUntil.getTime() > nowMs;
    return [secret, isRotating ? previousSecret : null]
      .filter((sealed) => sealed !== null)
      .map((sealed) => readKeys(destination, sealed));
  };

  const post = (destination: Destination, message: Message, signal?: AbortSignal): Promise<OutboundResponse> => {
    const nowMs = clock.nowMs();
    const unixSeconds = Math.floor(nowMs / 1000);
    return outbound.request({
      method: 'POST',
      url: destination.url,
      headers: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        'x-webhook-event': message.event,
        'x-webhook-timestamp': message.createdAt.toISOString(),
        'webhook-id': message.id,
        'webhook-timestamp': String(unixSeconds),
        ...signatureHeaders(message, unixSeconds, keysOf(destination, nowMs)),
      },
      body: message.body,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      excess: 'cut',
      redirects: 'refuse',
      ...(signal && { signal }),
    });
  };

  return async (destination, message, signal) => {
    const at = new Date(clock.nowMs()).toISOString();
    const startedAt = clock.steadyMs();
    const durationMs = (): number => Math.round((clock.steadyMs() - startedAt) * 1000) / 1000;
    try {
      const response = await post(destination, message, signal);
      const { status, body } = response;
      return { at, status, durationMs: durationMs(), answer: answerText(body), error: failureOf(response) };
    } catch (error) {
      if (error instanceof OutboundError && error.kind === GIVEN_UP) throw error;
      return { at, status: null, durationMs: durationMs(), answer: null, error: errorMessage(error) };
    }
  };
}
