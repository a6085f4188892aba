import { Type } from 'typebox';
import { defineRoute } from '../shared/route.ts';
import { Name, OneOf, PathParam, Success, Timestamp } from '../shared/schemas.ts';
import { PERMISSIONS, TIERS } from '../shared/tiers.ts';

const Permissions = Type.Array(OneOf(PERMISSIONS), { minItems: 1, uniqueItems: true, examples: [['read', 'write']] });

export const CreatedKey = Type.Object({
  id: Type.String({ examples: ['key_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  key: Type.String({
    description: 'The key value. Shown only here.',
    examples: ['tsk_8dJ2kQpLExampleKeyExampleKeyExampleKey'],
  }),
  secret: Type.String({
    description: 'Stored hashed, shown only here.',
    examples: ['tss_5rTqYw8LExampleSecretExampleSecretExampleS'],
  }),
  name: Type.String({ examples: ['Default Key'] }),
  permissions: Permissions,
  tier: OneOf(TIERS),
  message: Type.String({ examples: ['Store the key and the secret in a safe place: they are shown only once.'] }),
});

export const createApiKey = defineRoute({
  id: 'createApiKey',
  method: 'POST',
  path: '/v1/auth/api-keys',
  tag: 'Keys',
  summary: 'Create an API key',
  description: 'The new key belongs to the caller’s developer and holds nothing that the caller’s key lacks.',
  permission: 'admin',
  status: 201,
  body: Type.Object({
    name: Type.Optional(Name({ description: 'Default "Default Key".', examples: ['CRM integration'] })),
    permissions: Type.Optional(Permissions),
  }),
  response: CreatedKey,
  errors: ['INVALID_REQUEST', 'INVALID_JSON'],
});

export const listApiKeys = defineRoute({
  id: 'listApiKeys',
  method: 'GET',
  path: '/v1/auth/api-keys',
  tag: 'Keys',
  summary: 'List the API keys of the developer',
  permission: 'read',
  status: 200,
  response: Type.Object({
    keys: Type.Array(
      Type.Object({
        _id: Type.String({ examples: ['key_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
        key: Type.String({ description: 'The first 12 characters of the key value.', examples: ['tsk_8dJ2kQpL'] }),
        name: Type.String({ examples: ['Default Key'] }),
        permissions: Permissions,
        tier: OneOf(TIERS),
        enabled: Type.Boolean(),
        createdAt: Timestamp,
      }),
    ),
  }),
  errors: [],
});

export const revokeApiKey = defineRoute({
  id: 'revokeApiKey',
  method: 'DELETE',
  path: '/v1/auth/api-keys/{id}',
  tag: 'Keys',
  summary: 'Revoke an API key',
  description: 'Takes effect on the next request. A revoked key stays in the list with enabled=false.',
  permission: 'admin',
  status: 200,
  params: PathParam('id', 'The _id of the key.'),
  response: Success,
  errors: ['NOT_FOUND'],
});

const Count = Type.Integer({ minimum: 0, examples: [42] });

export const getUsage = defineRoute({
  id: 'getUsage',
  method: 'GET',
  path: '/v1/auth/usage',
  tag: 'Keys',
  summary: 'Read the usage of the calling key',
  description: 'Days and months are UTC. Counts are of this key, the one that the limits apply to.',
  permission: 'read',
  status: 200,
  response: Type.Object(
    {
      tier: OneOf(TIERS),
      usage: Type.Object({ today: Count, month: Count }),
      limits: Type.Object({ perDay: Count, perMinute: Count }),
    },
    { examples: [{ tier: 'pro', usage: { today: 42, month: 980 }, limits: { perDay: 100_000, perMinute: 500 } }] },
  ),
  errors: [],
});
