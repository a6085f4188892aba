import { Type } from 'typebox';
import { defineRoute } from '../shared/route.ts';
import { Name, OneOf, PathParam, Timestamp } from '../shared/schemas.ts';
import { TIERS } from '../shared/tiers.ts';
import { CreatedKey } from './keys.ts';

const DeveloperName = Name({ description: 'Who the developer is.', examples: ['Acme Ltd.'] });
const DeveloperId = Type.String({ examples: ['dev_01kagc2y5jv6f3w9c0m4x7t8zb'] });

const Developer = Type.Object({
  id: DeveloperId,
  name: Type.String({ examples: ['Acme Ltd.'] }),
  tier: OneOf(TIERS),
  enabled: Type.Boolean(),
  createdAt: Timestamp,
});

export const createDeveloper = defineRoute({
  id: 'createDeveloper',
  method: 'POST',
  path: '/v1/admin/developers',
  tag: 'Administration',
  summary: 'Create a developer with a first key',
  description: 'Only admin keys of the first developer may. The new key holds read, write and admin.',
  permission: 'admin',
  status: 201,
  body: Type.Object({ name: DeveloperName, tier: Type.Optional(OneOf(TIERS, { description: 'Default free.' })) }),
  response: Type.Object({
    id: DeveloperId,
    name: Type.String({ examples: ['Acme Ltd.'] }),
    tier: OneOf(TIERS),
    apiKey: CreatedKey,
  }),
  errors: ['INVALID_REQUEST', 'INVALID_JSON'],
});

export const listDevelopers = defineRoute({
  id: 'listDevelopers',
  method: 'GET',
  path: '/v1/admin/developers',
  tag: 'Administration',
  summary: 'List the developers',
  description: 'Oldest first. `nextCursor` is present while there are more.',
  permission: 'admin',
  status: 200,
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default 100.' })),
    cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before.' })),
  }),
  response: Type.Object({
    developers: Type.Array(Developer),
    total: Type.Integer({ examples: [1] }),
    nextCursor: Type.Optional(Type.String()),
  }),
  errors: ['INVALID_REQUEST'],
});

export const updateDeveloper = defineRoute({
  id: 'updateDeveloper',
  method: 'PATCH',
  path: '/v1/admin/developers/{id}',
  tag: 'Administration',
  summary: 'Change the tier of a developer, or switch it off and on',
  permission: 'admin',
  status: 200,
  params: PathParam('id', 'The id of the developer.'),
  body: Type.Object(
    { tier: Type.Optional(OneOf(TIERS)), enabled: Type.Optional(Type.Boolean()) },
    { minProperties: 1 },
  ),
  response: Developer,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
});
