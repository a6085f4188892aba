import { Type } from 'typebox';
import type { EventContract } from '../../../contract/events/index.ts';
import { Timestamp } from '../../../contract/shared/schemas.ts';
import { jsonContent } from './operation.ts';

interface Header {
  name: string;
  description: string;
  /** Absent from messages of subscriptions without a secret, or while none is being replaced. */
  optional?: true;
}

const HEADERS: readonly Header[] = [
  { name: 'X-Webhook-Event', description: 'The event type.' },
  { name: 'X-Webhook-Timestamp', description: 'When the event happened, as in the body.' },
  {
    name: 'X-Webhook-Signature',
    description:
      '`sha256=` and the lowercase hex HMAC-SHA256 of the raw body, keyed with the secret of the subscription; absent without a secret.',
    optional: true,
  },
  {
    name: 'X-Webhook-Signature-Previous',
    description: 'The same with the secret before, for 24 hours after it was replaced.',
    optional: true,
  },
  {
    name: 'webhook-id',
    description: 'The id of the event, the same in every attempt: whoever has seen it has had the message.',
  },
  { name: 'webhook-timestamp', description: 'When the attempt was made, in Unix seconds.' },
  {
    name: 'webhook-signature',
    description:
      '`v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>` (Standard Webhooks), keyed with the bytes that a `whsec_` secret spells, or with any other secret as it is; absent without a secret. While a secret is being replaced, one signature for each of the two, with a space between.',
    optional: true,
  },
];

function webhookOf({ type, summary, data }: EventContract): object {
  const body = Type.Object({ event: Type.Literal(type), timestamp: Timestamp, data });
  return {
    post: {
      operationId: `on:${type}`,
      tags: ['Events'],
      summary,
      security: [],
      parameters: HEADERS.map(({ name, description, optional = false }) => ({
        name,
        in: 'header',
        required: !optional,
        description,
        schema: { type: 'string' },
      })),
      requestBody: { required: true, content: jsonContent(body) },
      responses: { '2XX': { description: 'Taken. Anything else, a redirect too, is tried again later.' } },
    },
  };
}

/** The webhooks of the document, by event type. */
export function webhooksOf(events: readonly EventContract[]): Record<string, object> {
  return Object.fromEntries(events.map((event) => [event.type, webhookOf(event)]));
}
