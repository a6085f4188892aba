import type { TSchema } from 'typebox';
import { Type } from 'typebox';
import { Timestamp } from '../../../contract/shared/schemas.ts';
import { jsonContent } from './operation.ts';

/** An event that the service sends to subscribed addresses. */
export interface EventContract {
  /** Such as `tool.executed`. */
  type: string;
  /** When it is sent. */
  summary: string;
  data: TSchema;
}

const HEADERS: Record<string, string> = {
  'X-Webhook-Event': 'The event type.',
  'X-Webhook-Timestamp': 'When the event happened, as in the body.',
  'X-Webhook-Signature':
    '`sha256=` and the lowercase hex HMAC-SHA256 of the raw body, keyed with the secret of the subscription; absent without a secret.',
};

function webhookOf({ type, summary, data }: EventContract): object {
  const body = Type.Object({ event: Type.Literal(type), timestamp: Timestamp, data });
  return {
    post: {
      operationId: `on:${type}`,
      tags: ['Events'],
      summary,
      security: [],
      parameters: Object.entries(HEADERS).map(([name, description]) => ({
        name,
        in: 'header',
        required: name !== 'X-Webhook-Signature',
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
