import { Type, type Static } from 'typebox';
import { EVENTS } from '../events/index.ts';
import { defineRoute } from '../shared/route.ts';
import { JsonObject, OneOf, PathParam, PRINTABLE, Success, Timestamp } from '../shared/schemas.ts';

export const EVENT_TYPES = EVENTS.map(({ type }) => type);
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;

const WebhookId = Type.String({ examples: ['hook_01kagc2y5jv6f3w9c0m4x7t8zb'] });
const DeliveryId = Type.String({ examples: ['dlv_01kagc2y5jv6f3w9c0m4x7t8zb'] });
const Url = Type.String({
  minLength: 1,
  maxLength: 8192,
  pattern: PRINTABLE,
  description: 'http or https, without a user name, a password and a fragment.',
  examples: ['https://crm.example.com/hooks/tessera'],
});
const Secret = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: PRINTABLE,
  description:
    'Key of the signatures. Stored encrypted and never shown. One that begins with `whsec_` is base64 of at least 16 bytes after it, as in Standard Webhooks.',
  examples: ['whsec_VGhpcyBpcyBhbiBleGFtcGxlIGtleS4='],
});
const Filter = Type.Unsafe<Record<string, unknown>>({
  ...JsonObject,
  description:
    'Only events whose data has these values: each key is a dotted path, each value what must be there, a list any of its items.',
  examples: [{ toolName: ['get_order', 'list_orders'] }],
});
const EventTypes = Type.Array(OneOf(EVENT_TYPES), { examples: [EVENT_TYPES] });
const Limit = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, description }));
const Cursor = Type.Optional(Type.String({ description: 'The nextCursor of the page before.' }));
const NextCursor = Type.Optional(Type.String({ description: 'Present while there are more.' }));

export const Webhook = Type.Object({
  _id: WebhookId,
  developerId: Type.String({ examples: ['dev_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  event: OneOf(EVENT_TYPES),
  url: Type.String({ examples: ['https://crm.example.com/hooks/tessera'] }),
  filter: Type.Optional(Filter),
  enabled: Type.Boolean(),
  hasSecret: Type.Boolean({ description: 'Whether messages are signed.' }),
  lastTriggered: Type.Union([Timestamp, Type.Null()], { description: 'When it was last sent to; null before that.' }),
  failCount: Type.Integer({
    minimum: 0,
    description: 'Attempts that failed since the last that succeeded.',
    examples: [0],
  }),
  createdAt: Timestamp,
});
export type Webhook = Static<typeof Webhook>;

const Attempt = Type.Object(
  {
    at: Timestamp,
    status: Type.Union([Type.Integer(), Type.Null()], { description: 'HTTP status; null when no answer came.' }),
    durationMs: Type.Number({ minimum: 0 }),
    answer: Type.Union([Type.String(), Type.Null()], { description: 'How the body of the answer begins.' }),
    error: Type.Union([Type.String(), Type.Null()], { description: 'What was wrong; null for a success.' }),
  },
  { examples: [{ at: '2026-01-31T08:15:30.123Z', status: 200, durationMs: 84, answer: 'ok', error: null }] },
);

export const Delivery = Type.Object({
  _id: DeliveryId,
  webhookId: WebhookId,
  eventId: Type.String({
    description: 'The header `webhook-id` of every attempt.',
    examples: ['evt_01kagc2y5jv6f3w9c0m4x7t8zb'],
  }),
  event: OneOf(EVENT_TYPES),
  status: OneOf(DELIVERY_STATUSES, {
    description: 'An attempt is to come, one succeeded, or they were given up.',
    default: 'delivered',
  }),
  reason: Type.Optional(Type.String({ description: 'Why it was given up before the last attempt.' })),
  attempts: Type.Array(Attempt, { description: 'The latest attempts, oldest first.' }),
  nextAttemptAt: Type.Optional(Type.String({ format: 'date-time', description: 'Only while pending.' })),
  createdAt: Timestamp,
});
export type Delivery = Static<typeof Delivery>;

export const createWebhook = defineRoute({
  id: 'createWebhook',
  method: 'POST',
  path: '/v1/events/webhooks',
  tag: 'Events',
  summary: 'Subscribe an address to an event',
  description: 'At most 1,000 subscriptions for each developer.',
  permission: 'write',
  status: 201,
  body: Type.Object({
    event: OneOf(EVENT_TYPES),
    url: Url,
    secret: Type.Optional(Secret),
    filter: Type.Optional(Filter),
  }),
  response: Type.Object({ id: WebhookId, ...Webhook.properties }),
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'CONFLICT'],
});

export const listWebhooks = defineRoute({
  id: 'listWebhooks',
  method: 'GET',
  path: '/v1/events/webhooks',
  tag: 'Events',
  summary: 'List the subscriptions',
  description: 'Newest first. All of them, unless `limit` is given; `nextCursor` is then present while there are more.',
  permission: 'read',
  status: 200,
  query: Type.Object({ limit: Limit(1000, 'Default all.'), cursor: Cursor }),
  response: Type.Object({
    webhooks: Type.Array(Webhook),
    eventTypes: EventTypes,
    nextCursor: NextCursor,
  }),
  errors: ['INVALID_REQUEST'],
});

const WebhookParam = PathParam('id', 'The _id of the subscription.');

export const deleteWebhook = defineRoute({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/v1/events/webhooks/{id}',
  tag: 'Events',
  summary: 'End a subscription',
  description: 'Its deliveries go with it; none is attempted any more.',
  permission: 'write',
  status: 200,
  params: WebhookParam,
  response: Success,
  errors: ['NOT_FOUND'],
});

export const updateWebhook = defineRoute({
  id: 'updateWebhook',
  method: 'PATCH',
  path: '/v1/events/webhooks/{id}',
  tag: 'Events',
  summary: 'Change a subscription',
  description:
    'Fields that are absent stay as they are. A new secret signs at once, and for 24 hours the one before it signs too; `secret: null` ends signing at once. `enabled: true` sets failCount to 0; `enabled: false` gives up what is pending.',
  permission: 'write',
  status: 200,
  params: WebhookParam,
  body: Type.Object(
    {
      url: Type.Optional(Url),
      filter: Type.Optional(Type.Union([Filter, Type.Null()])),
      enabled: Type.Optional(Type.Boolean()),
      secret: Type.Optional(Type.Union([Secret, Type.Null()])),
    },
    { minProperties: 1, examples: [{ enabled: true }] },
  ),
  response: Webhook,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

export const testWebhook = defineRoute({
  id: 'testWebhook',
  method: 'POST',
  path: '/v1/events/webhooks/{id}/test',
  tag: 'Events',
  summary: 'Send a sample of the event now',
  description:
    'One attempt, signed as every other. It is neither recorded nor counted, and a disabled subscription is tried as well.',
  permission: 'write',
  status: 200,
  params: WebhookParam,
  response: Type.Object({
    success: Type.Boolean({ description: 'Whether the address took the message.' }),
    attempt: Attempt,
  }),
  errors: ['NOT_FOUND'],
});

export const recoverWebhook = defineRoute({
  id: 'recoverWebhook',
  method: 'POST',
  path: '/v1/events/webhooks/{id}/recover',
  tag: 'Events',
  summary: 'Send again what failed since a moment',
  permission: 'write',
  status: 200,
  params: WebhookParam,
  body: Type.Object({
    since: Type.String({
      format: 'date-time',
      description: 'Failed deliveries created then or later become pending, due now.',
      examples: ['2026-01-31T08:00:00Z'],
    }),
  }),
  response: Type.Object({
    success: Type.Literal(true),
    recovered: Type.Integer({ minimum: 0, description: 'How many deliveries are sent again.', examples: [12] }),
  }),
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
});

export const listDeliveries = defineRoute({
  id: 'listDeliveries',
  method: 'GET',
  path: '/v1/events/webhooks/{id}/deliveries',
  tag: 'Events',
  summary: 'List the deliveries of a subscription',
  description: 'Newest first.',
  permission: 'read',
  status: 200,
  params: WebhookParam,
  query: Type.Object({
    limit: Limit(200, 'Default 50.'),
    cursor: Cursor,
    status: Type.Optional(OneOf(DELIVERY_STATUSES, { description: 'Only deliveries of this status.' })),
  }),
  response: Type.Object({ deliveries: Type.Array(Delivery), nextCursor: NextCursor }),
  errors: ['INVALID_REQUEST', 'NOT_FOUND'],
});

const DeliveryParam = PathParam('id', 'The _id of the delivery.');

export const getDelivery = defineRoute({
  id: 'getDelivery',
  method: 'GET',
  path: '/v1/events/deliveries/{id}',
  tag: 'Events',
  summary: 'Read a delivery with the message that is sent',
  permission: 'read',
  status: 200,
  params: DeliveryParam,
  response: Type.Object({
    ...Delivery.properties,
    body: Type.Unsafe<Record<string, unknown>>({
      ...JsonObject,
      description: 'The message as it is sent.',
      examples: [
        {
          event: 'app.installed',
          timestamp: '2026-01-31T08:15:30.123Z',
          data: { appId: 'crm', appName: 'Customers' },
        },
      ],
    }),
  }),
  errors: ['NOT_FOUND'],
});

export const redeliver = defineRoute({
  id: 'redeliver',
  method: 'POST',
  path: '/v1/events/deliveries/{id}/redeliver',
  tag: 'Events',
  summary: 'Send a delivery again',
  description:
    'It becomes pending, due now, and all attempts are before it again; those that were made stay in the list.',
  permission: 'write',
  status: 200,
  params: DeliveryParam,
  response: Delivery,
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const listEventTypes = defineRoute({
  id: 'listEventTypes',
  method: 'GET',
  path: '/v1/events/types',
  tag: 'Events',
  summary: 'List the event types',
  permission: 'read',
  status: 200,
  response: Type.Object({ eventTypes: EventTypes }),
  errors: [],
});
