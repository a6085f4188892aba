import { Type, type Static } from 'typebox';
import { defineRoute } from '../shared/route.ts';
import { OneOf, PRINTABLE, Timestamp } from '../shared/schemas.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

export const LoggedCall = Type.Object({
  _id: Type.String({ examples: ['call_48113'] }),
  userId: Type.String({ description: 'The developer.', examples: ['dev_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  endpoint: Type.String({ description: 'Path without the query.', examples: ['/v1/tools/get_order'] }),
  method: Type.String({ examples: ['GET'] }),
  status: Type.Integer({ description: 'HTTP status; 499 when the client left before the answer.', examples: [200] }),
  timestamp: Timestamp,
  responseTime: Type.Number({ minimum: 0, description: 'Milliseconds.', examples: [3.27] }),
});
export type LoggedCall = Static<typeof LoggedCall>;

export const listCalls = defineRoute({
  id: 'listCalls',
  method: 'GET',
  path: '/v1/events/logs',
  tag: 'Events',
  summary: 'List the calls of the API',
  description:
    'Those of every key of the developer, newest first. `nextCursor` is present while there are more. A filter that few calls pass may give short or empty pages before the last.',
  permission: 'read',
  status: 200,
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default 100.', examples: [100] })),
    cursor: Type.Optional(
      Type.String({ description: 'The nextCursor of the page before.', examples: ['MTc2OTg0NzMzMDEyMy40ODExMw'] }),
    ),
    endpoint: Type.Optional(
      Type.String({
        maxLength: 8192,
        pattern: PRINTABLE,
        description: 'Only endpoints that begin with this.',
        examples: ['/v1/tools'],
      }),
    ),
    method: Type.Optional(OneOf(METHODS, { description: 'Only calls with this method.' })),
    status: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 599, description: 'Only calls with this status.', examples: [404] }),
    ),
  }),
  response: Type.Object({
    logs: Type.Array(LoggedCall),
    nextCursor: Type.Optional(
      Type.String({ description: 'Present while there are more.', examples: ['MTc2OTg0NzMzMDEyMy40ODExMw'] }),
    ),
  }),
  errors: ['INVALID_REQUEST'],
});
